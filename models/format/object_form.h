// What tables in object form need before they are copied or written. Private to models/format.
#ifndef TOPWORK_MODELS_FORMAT_OBJECT_FORM_H_
#define TOPWORK_MODELS_FORMAT_OBJECT_FORM_H_

namespace topwork {

// A union that names a type but holds no table is legal in a file; in object form it would be
// followed through a null pointer.
template <typename Union>
void DropTypeOfNothing(Union* u) {
  if (u->value == nullptr) u->Reset();
}

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_OBJECT_FORM_H_

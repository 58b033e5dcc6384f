// What of reading and writing models a build has (options of CMakeLists.txt).
#ifndef TOPWORK_MODELS_FORMAT_PARTS_H_
#define TOPWORK_MODELS_FORMAT_PARTS_H_

namespace topwork {

// What metadata says of labels, normalisation and sample rates, and the files packed into models.
#ifdef TW_NO_METADATA
constexpr bool kHasMetadata = false;
#else
constexpr bool kHasMetadata = true;
#endif

// Trainers' models as files. (Learners and the quantizer write theirs all the same.)
#ifdef TW_NO_EXPORT
constexpr bool kHasExport = false;
#else
constexpr bool kHasExport = true;
#endif

}  // namespace topwork

#endif  // TOPWORK_MODELS_FORMAT_PARTS_H_

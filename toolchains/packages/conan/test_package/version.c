/* The smallest user of the library: prints the version it links. */
#include <stdio.h>
#include <topwork/topwork.h>

int main(void) {
  printf("%s\n", tw_version());
  return 0;
}

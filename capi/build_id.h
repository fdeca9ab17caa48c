/* build_id.h: which version of the library a file is. */
#ifndef JC_BUILD_ID_H
#define JC_BUILD_ID_H

/* jc_build_id_is_own says whether an ELF file has the GNU build id of the running
 * code. */
int jc_build_id_is_own(int fd);

#endif

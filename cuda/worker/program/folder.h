/* folder.h: the name of the folder that NVRTC works in.
 *
 * NVRTC asks for the name in each compile, but only some results show it. For the
 * others it gets "." instead, so they cannot depend on the name, and it looks for files
 * in the folder by relative names. */
#ifndef JW_FOLDER_H
#define JW_FOLDER_H

/* jw_folder_show sets whether NVRTC gets the folder's name from now on. */
void jw_folder_show(int shown);

/* jw_folder_shown returns what jw_folder_show has set. */
int jw_folder_shown(void);

#endif

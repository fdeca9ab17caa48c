/* folder.h: the name of the folder that NVRTC works in.
 *
 * NVRTC asks for it in each compile, and it is in the result only where that shows
 * where things lie. Elsewhere it is not told: then the result cannot depend on it. It is
 * given ".", and what it looks for in the folder it looks for by relative names. */
#ifndef JW_FOLDER_H
#define JW_FOLDER_H

/* jw_folder_show says whether the folder's name is told from now on. */
void jw_folder_show(int shown);

/* jw_folder_shown returns what was said. */
int jw_folder_shown(void);

#endif

/// The inputs that a program gets by functions of C: the time, files, processes, the environment. A
/// recording notes them, and a replay gives them back.
#ifndef CCL_OUTSIDE_H
#define CCL_OUTSIDE_H

#include "clua.h"

/// A call of a function of C, with its results.
typedef struct ccl_input {
  /// The subject of the call, such as a path; NULL for none.
  const char *about;
  long long result;
  /// The error number of a call that failed.
  int error;
  /// Further results: the bytes that were read, or a text; NULL for none.
  const void *bytes;
  size_t count;
} ccl_input;

typedef struct ccl_outside {
  /// In a replay, sets the results to those that were recorded, which live until the next call, and
  /// returns true.
  bool (*take)(const char *kind, ccl_input *input);
  /// Records the results.
  void (*note)(const char *kind, const ccl_input *input);
  /// Called for a step that cannot be replayed.
  void (*refuse)(const char *what);
} ccl_outside;

/// Notes, or gives back, the inputs of Lua's libraries and C modules from now on. If
/// `standard_input` is true, `stdin` becomes a stream that does the same. Call it in the main
/// thread, before any state is made. Returns false if the system does not allow it.
bool ccl_watchoutside(ccl_outside functions, bool standard_input);
/// The functions `take` and `note`, for calls by the program itself; they do nothing, and the first
/// returns false, unless inputs are watched.
bool ccl_takeinput(const char *kind, ccl_input *input);
void ccl_noteinput(const char *kind, const ccl_input *input);
/// Call this in a copy of the process. Calls in the copy then count as calls of the run, so it gets
/// nothing from outside that the run does not get.
void ccl_watchcopy(void);
/// Loads a C module for a replay. Once the process is locked, the replay can use only the modules
/// that were loaded in this way.
void ccl_loadmodule(const char *path);
/// Loads the data of a locale, so that a replay can set the locale after its process is locked. The
/// C library looks for it only in its own folders. Does nothing if this machine does not have it.
void ccl_loadlocale(const char *name);
/// From now on, a chunk of bytecode is a step that cannot be replayed, or an error: the code could
/// corrupt the memory of the process. Chunks that the program itself loads may be bytecode.
void ccl_refusebytecode(void);
/// Restores `stdin`.
void ccl_restoreinput(void);
/// A number for the files of the program and of Lua's library: the same number, the same build.
uint64_t ccl_buildnumber(void);

#endif

"""Two renames that lose nothing: one never replaces, one swaps.

Python has no ``renameat2``; where the kernel or the file system lacks its flags (NFS does),
hard links stand in.
"""

import ctypes
import errno
import os

_NOREPLACE = 1
_EXCHANGE = 2
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP})


class Renames:
    """Renames inside one folder.

    Attributes:
        native: whether the kernel's flags are tried; turned off by the first refusal.
    """

    def __init__(self, *, native: bool = True) -> None:
        self._call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        self.native = native and self._call is not None

    def place(self, folder: int, source: str, target: str) -> bool:
        """Give ``source`` the name ``target`` unless that is taken.

        Returns:
            False when something stands at ``target``; nothing was changed then.
        """
        if self.native:
            code = self._rename(folder, source, target, flags=_NOREPLACE)
            if code not in _UNSUPPORTED:
                return code != errno.EEXIST and _done(code, target)
            self.native = False
        try:
            os.link(source, target, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        os.unlink(source, dir_fd=folder)
        return True

    def exchange(self, folder: int, source: str, target: str, *, backup: str) -> bool:
        """Put ``source`` in the place of ``target``, keeping what stood there.

        What was displaced is afterwards named ``source`` (swapped) or ``backup`` (hard link made
        before). Without the kernel's help a file renamed onto ``target`` between the two steps is lost.

        Returns:
            False when nothing stands at ``target``; nothing was changed then.
        """
        try:
            if self.swap(folder, source, target):
                return True
            os.link(target, backup, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        os.rename(source, target, src_dir_fd=folder, dst_dir_fd=folder)
        return True

    def swap(self, folder: int, one: str, other: str) -> bool:
        """Exchange two names, of files or of folders, in one step.

        Returns:
            False where the kernel or the file system can't; nothing was changed then.

        Raises:
            FileNotFoundError: nothing stands at one of them.
        """
        if self.native:
            code = self._rename(folder, one, other, flags=_EXCHANGE)
            if code not in _UNSUPPORTED:
                return _done(code, other)
            self.native = False
        return False

    def _rename(self, folder: int, source: str, target: str, *, flags: int) -> int:
        call = self._call
        if call is None:
            return errno.ENOSYS
        failed = call(folder, os.fsencode(source), folder, os.fsencode(target), ctypes.c_uint(flags))
        return ctypes.get_errno() if failed else 0


def _done(code: int, target: str) -> bool:
    if code:
        raise OSError(code, os.strerror(code), target)
    return True

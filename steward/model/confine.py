"""Landlock through ctypes: a thread gives up the file system and the network but for what it names."""

from __future__ import annotations

import ctypes
import os
import re
import stat
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_READ_FILE, _READ_DIR, _WRITE_FILE, _TRUNCATE, _IOCTL = 1 << 2, 1 << 3, 1 << 1, 1 << 14, 1 << 15
_FILE_RIGHTS = 1 << 0 | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_CONNECT = 1 << 1

LOCAL_PORTS = frozenset({1234, 8000, 8080, 11434, 12434})
"""Where model servers on this machine listen unless they are told otherwise."""
WEB_PORTS = frozenset({80, 443})
_PORT = re.compile(r"(?:^|//|@)(?:[^\s/@]*@)?(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})(?=[/?#]|$)")


def abi() -> int:
    """The version of Landlock that the kernel speaks; 0 when it speaks none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1)))


class Ruleset:
    """What may still be used: files to read, devices to write, ports to connect to (``None``: every port)."""

    def __init__(
        self, reads: Iterable[Path], writes: Iterable[Path] = (), ports: Iterable[int] | None = None
    ) -> None:
        """Raises ``OSError`` where the kernel has no Landlock."""
        self.version = abi()
        if not self.version:
            raise OSError("the kernel has no Landlock")
        last = 12 if self.version < 2 else 13 if self.version < 3 else 14 if self.version < 5 else 15
        self._rights = (1 << last + 1) - 1
        self.ports = None if ports is None or self.version < 4 else tuple(sorted(set(ports)))
        # Nobody is listened to in any case: that right is taken and given back for no port.
        network = 0 if self.version < 4 else 1 if self.ports is None else 1 | _CONNECT
        scopes = 3 if self.version >= 6 else 0
        words = 1 if self.version < 4 else 2 if self.version < 6 else 3
        attributes = struct.pack("QQQ", self._rights, network, scopes)[: 8 * words]
        self.descriptor = _checked(
            _call(_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
        )
        try:
            for path in reads:
                self._allow(path, _READ_FILE | _READ_DIR)
            for path in writes:
                self._allow(path, _READ_FILE | _WRITE_FILE)
            for port in self.ports or ():
                rule = struct.pack("QQ", _CONNECT, port)
                _checked(_call(_ADD, self.descriptor, ctypes.c_int(2), rule, ctypes.c_uint32(0)))
        except BaseException:
            os.close(self.descriptor)
            raise

    def restrict(self) -> None:
        """Hold the calling thread, and whatever it starts from here on, to the rules for good."""
        libc = _libc()
        _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(_call(_RESTRICT, self.descriptor, ctypes.c_uint32(0)))

    def close(self) -> None:
        """Give the descriptor back; the restriction stays."""
        os.close(self.descriptor)

    def _allow(self, path: Path, rights: int) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return  # What is not there needs no rule.
        try:
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                rights &= _FILE_RIGHTS
            rule = struct.pack("=Qi", rights & self._rights, place)
            _checked(_call(_ADD, self.descriptor, ctypes.c_int(1), rule, ctypes.c_uint32(0)))
        finally:
            os.close(place)


WRITES = (Path("/dev/null"),)
"""What the worker writes to by name; its pipes are open already."""


def worker_reads(environment: Mapping[str, str]) -> Iterator[Path]:
    """What the worker reads: what it imports, certificates, name look-up, and credentials that providers look for."""
    import site

    import steward

    yield Path(steward.__file__).resolve().parent
    for prefix in {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}:
        for name in ("lib", "lib64", "share", "pyvenv.cfg"):
            yield Path(prefix) / name
    for entry in {*sys.path, site.getusersitepackages()}:
        if Path(entry).name in ("site-packages", "dist-packages", "lib-dynload") or entry.endswith(".zip"):
            yield Path(entry)
            yield from _linked(Path(entry))
    # The files of name look-up are replaced while a machine moves between networks; so the folder, without a list.
    yield Path("/etc")
    for name in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo",
                 "/usr/share/ca-certificates",
                 "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/var/lib/ca-certificates",
                 "/nix/store", "/sys/fs/cgroup", "/sys/devices/system/cpu", "/proc/self", "/proc/cpuinfo",
                 "/proc/meminfo", "/proc/sys/net", "/dev/urandom", "/dev/random"):  # fmt: skip
        yield Path(name)
    named = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERTIFICATE",
             "GOOGLE_APPLICATION_CREDENTIALS", "VERTEXAI_CREDENTIALS", "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE",
             "AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_FEDERATED_TOKEN_FILE", "AZURE_CLIENT_CERTIFICATE_PATH",
             "TIKTOKEN_CACHE_DIR", "NETRC")  # fmt: skip
    for name in named:
        if environment.get(name, "").startswith("/"):
            yield Path(environment[name])
    home = environment.get("HOME", "")
    if home.startswith("/"):
        for name in (".aws", ".config/gcloud", ".azure", ".config/litellm", ".oci"):
            yield Path(home) / name


def _linked(packages: Path) -> Iterator[Path]:
    """Where packages really are that an installer has linked instead of copied."""
    with suppress(OSError), os.scandir(packages) as entries:
        for entry in entries:
            if entry.is_symlink():
                yield Path(entry.path).resolve()
            elif entry.is_dir() and (first := Path(entry.path) / "__init__.py").is_symlink():
                yield first.resolve().parent


def worker_ports(environment: Mapping[str, str], *named: object) -> frozenset[int]:
    """The ports a worker may need: the web's, those of local model servers, and what environment and ``named`` name."""
    return WEB_PORTS | LOCAL_PORTS | ports_in(dict(environment), *named)


def ports_in(*values: object) -> frozenset[int]:
    """Every port that a URL or ``host:port`` among the values names; mappings and lists are gone through."""
    found: set[int] = set()
    for value in values:
        if isinstance(value, Mapping):
            found |= ports_in(*cast(Mapping[Any, object], value).values())
        elif isinstance(value, list | tuple):
            found |= ports_in(*cast(tuple[object, ...], value))
        elif isinstance(value, str):
            found |= {port for text in _PORT.findall(value) if 0 < (port := int(text)) < 65_536}
    return frozenset(found)


def confined_threads() -> int:
    """How many threads of this process there are, native ones among them; 0 when that is not known."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return 0


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def _call(*arguments: Any) -> int:
    libc = _libc()
    libc.syscall.restype = ctypes.c_long
    return int(libc.syscall(ctypes.c_long(arguments[0]), *arguments[1:]))


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result

"""Which programming languages are known, by suffix, by file name and by interpreter."""

from __future__ import annotations

from typing import Final

__all__ = ["CODE_NAMES", "CODE_SUFFIXES", "MEDIA_TYPE", "language_of"]

MEDIA_TYPE: Final = "text/x-source-code"
"""Of every document that is source code; here, since a search asks for it and needs no reader."""

_SUFFIXES: Final = {
    "python": ".py .pyi .pyw",
    "javascript": ".js .mjs .cjs .jsx",
    "typescript": ".ts .mts .cts",
    "tsx": ".tsx",
    "java": ".java",
    "kotlin": ".kt .kts",
    "scala": ".scala .sc",
    "groovy": ".groovy .gradle",
    "c": ".c .h",
    "cpp": ".cc .cpp .cxx .hpp .hh .hxx .cu .ino",
    "csharp": ".cs",
    "objc": ".m .mm",
    "swift": ".swift",
    "go": ".go",
    "rust": ".rs",
    "zig": ".zig",
    "dart": ".dart",
    "ruby": ".rb .rake .gemspec",
    "php": ".php",
    "perl": ".pl .pm",
    "lua": ".lua",
    "r": ".r",
    "julia": ".jl",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl",
    "haskell": ".hs",
    "ocaml": ".ml .mli",
    "clojure": ".clj .cljs .cljc .edn",
    "elisp": ".el",
    "fsharp": ".fs .fsi .fsx",
    "bash": ".sh .bash .zsh .fish",
    "powershell": ".ps1 .psm1",
    "sql": ".sql",
    "css": ".css .scss .less .sass",
    "vue": ".vue",
    "svelte": ".svelte",
    "html": ".jinja .j2 .jinja2 .erb .ejs .hbs",
    "proto": ".proto",
    "graphql": ".graphql .gql",
    "hcl": ".tf .tfvars .hcl",
    "nix": ".nix",
    "cmake": ".cmake",
    "make": ".mk",
    "toml": ".toml",
    "ini": ".ini .cfg .conf .properties .env .editorconfig .service .desktop",
    "diff": ".diff .patch",
    "vim": ".vim",
    "asm": ".asm .s",
    "fortran": ".f90 .f95 .f03 .f",
    "solidity": ".sol",
    "verilog": ".v .sv",
    "vhdl": ".vhd .vhdl",
}
_NAMES: Final = {
    "makefile": "make",
    "gnumakefile": "make",
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "cmakelists.txt": "cmake",
    "rakefile": "ruby",
    "gemfile": "ruby",
    "vagrantfile": "ruby",
    "jenkinsfile": "groovy",
    "justfile": "make",
    "build.bazel": "starlark",
}
_INTERPRETERS: Final = {
    "python": "python", "node": "javascript", "deno": "typescript", "ruby": "ruby", "perl": "perl",
    "php": "php", "lua": "lua", "bash": "bash", "sh": "bash", "zsh": "bash", "dash": "bash",
    "rscript": "r", "julia": "julia", "fish": "bash", "make": "make",
}  # fmt: skip
_BY_SUFFIX: Final = {
    suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}

CODE_SUFFIXES: Final = tuple(_BY_SUFFIX)
CODE_NAMES: Final = frozenset(_NAMES)
"""Lower case."""


def language_of(uri: str, source: str = "") -> str:
    """Return the language of a file by its name, else by its first line; empty if neither tells."""
    name = uri.replace("\\", "/").rpartition("/")[2].lower()
    suffix = f".{name.rpartition('.')[2]}"
    if found := _NAMES.get(name) or _BY_SUFFIX.get(suffix):
        return found
    first = source.partition("\n")[0]
    if not first.startswith("#!"):
        return ""
    program = next((word for word in reversed(first[2:].split()) if not word.startswith("-")), "")
    return _INTERPRETERS.get(program.rpartition("/")[2].rstrip("0123456789.").lower(), "")

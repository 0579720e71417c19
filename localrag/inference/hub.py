"""Fetches a model of the catalogue from the hub, when the user asks for it by name.

The library `huggingface_hub` knows the hub's addresses, tokens and errors, and fetches; it keeps
nothing of a download that was killed, so that the files are ours: each grows under the name of its
hash in the hidden folder of `localrag.inference.library`, in steps of ten megabytes, is compared
with that hash when it is whole, and only then gets its own name. The hash is the catalogue's; where
that has none, it is the hub's, and the stored card pins what was found.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass, fields
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from localrag.checked import checked
from localrag.errors import LocalragError, ModelError
from localrag.inference.bundle import installed_models
from localrag.inference.card import ModelCard, ModelFacts, ModelFile, sha256_of
from localrag.inference.catalogue import catalogue
from localrag.inference.library import being_made, put_in_place

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.inference.bundle import InstalledModel
    from localrag.inference.catalogue import CatalogueEntry, HubFile

__all__ = ["pull"]

PUBLIC_HUB = "https://huggingface.co"
ENDPOINT = "HF_ENDPOINT"
"""Environment variable that names another hub, such as a mirror; huggingface_hub's own."""
PARTS = ".parts"
"""Below the hidden folder of a model: files that are not whole yet, by their hashes."""
CLOSED = (401, 403)
"""HTTP status of what is not for everybody."""


def pull(name: str, *, progress: bool = False) -> InstalledModel:
    """Fetch, check, try and keep the model called `name`; at once where it is here and whole.

    Args:
        name: of an entry of the catalogue.
        progress: whether bars on standard error show the download.

    Raises:
        ModelError: there is no such entry, the hub cannot be reached or does not have the files,
            or they are not the ones that were promised. Nothing is installed then.
        BusyError: another process is fetching it.
    """
    entry = catalogue().get(name)
    if entry is None:
        raise ModelError(
            f"no model called {name} is known: localrag models list shows those that are; another "
            "one can be brought by hand with localrag models add FOLDER"
        )
    here = _whole(name)
    if here is not None:
        return here
    library = _library()
    with being_made(name) as folder:
        return put_in_place(folder, _downloaded(library, entry, folder, progress=progress))


def _whole(name: str) -> InstalledModel | None:
    for model in installed_models():
        if model.origin == "user" and model.card.name == name:
            try:
                model.card.verify(model.path.parent)
            except ModelError:  # damaged: it is fetched again
                return None
            return model
    return None


def _library() -> Any:  # noqa: ANN401 - a module
    # Read at its import. With telemetry it asks the hub which AI tools there are, and tells it in
    # which it runs and which torch is installed: nobody asked for that.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        import huggingface_hub.errors  # noqa: PLC0415 - an extra, and slow to import
        import huggingface_hub.file_download  # noqa: PLC0415
        import huggingface_hub.utils  # noqa: PLC0415
    except ImportError as error:
        raise ModelError(
            "fetching models needs huggingface_hub: pip install 'localrag[hub]'"
        ) from error
    return huggingface_hub


def _downloaded(
    library: Any,  # noqa: ANN401 - as above
    entry: CatalogueEntry,
    folder: Path,
    *,
    progress: bool,
) -> ModelCard:
    """Bring every file of `entry` into `folder` and return the card that pins them."""
    switch = "enable_progress_bars" if progress else "disable_progress_bars"
    getattr(library.utils, switch)()
    endpoint = (os.environ.get(ENDPOINT) or PUBLIC_HUB).rstrip("/")
    api = library.HfApi(endpoint, **_ourselves())
    try:
        info = api.model_info(entry.repository, revision=entry.revision, files_metadata=True)
        download = _Download(library, endpoint, entry, info, folder)
        files = [download.file(file) for file in entry.files]
    except LocalragError:
        raise
    except Exception as error:  # its own tree and that of its HTTP client, which changes by version
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's fault: `being_made` says what to do
        raise ModelError(_reason(library, error, entry, endpoint)) from error
    shutil.rmtree(folder / PARTS, ignore_errors=True)
    facts = {fact.name: getattr(entry, fact.name) for fact in fields(ModelFacts)}
    source = f"{entry.source} ({entry.repository} at {info.sha})"
    return checked(facts | {"source": source, "files": files}, ModelCard)


@dataclass(frozen=True, slots=True)
class _Download:
    """One model on its way."""

    library: Any
    endpoint: str
    entry: CatalogueEntry
    info: Any
    """What the hub says of the commit: its hash, and each file with its own."""
    folder: Path

    def file(self, file: HubFile) -> ModelFile:
        """Bring one file and compare it with what was promised; one that differs is thrown away."""
        held = {sibling.rfilename: sibling for sibling in self.info.siblings}
        sibling = held.get(file.path)
        if sibling is None:
            raise ModelError(
                f"{self.entry.repository} has no {file.path} at {self.info.sha}: the list of this "
                "localrag is out of date; update it, or bring the model with localrag models add "
                "FOLDER"
            )
        of_hub = sibling.lfs.sha256 if sibling.lfs else None
        promised = file.sha256 or of_hub
        if of_hub != promised and of_hub is not None:  # known before the bytes are fetched
            raise self._differs(file, of_hub)
        path = self.folder / file.path
        if not (path.is_file() and _same(path, promised, sibling.blob_id)):
            part = self._fetched(file, promised or sibling.blob_id, sibling.size)
            if not _same(part, promised, sibling.blob_id):
                found = sha256_of(part)
                part.unlink()
                raise self._differs(file, found)
            path.parent.mkdir(parents=True, exist_ok=True)
            part.replace(path)
        found = promised or sha256_of(path)
        return ModelFile(path=file.path, sha256=found, bytes=path.stat().st_size)

    def _fetched(self, file: HubFile, digest: str | None, size: int | None) -> Path:
        """Fetch what is not there yet of a file, and return where it lies."""
        if digest is None:
            raise ModelError(
                f"{self.endpoint} gives no hash for {file.path}, so that a broken download could "
                "not be told from a whole one: name another hub with HF_ENDPOINT"
            )
        address = self.library.hf_hub_url(
            self.entry.repository, file.path, revision=self.info.sha, endpoint=self.endpoint
        )
        headers = self.library.utils.build_hf_headers(**_ourselves())
        part = self.folder / PARTS / digest
        part.parent.mkdir(exist_ok=True)
        with part.open("ab") as stream:
            self.library.file_download.http_get(
                address,
                stream,
                resume_size=stream.tell(),
                headers=headers,
                expected_size=size,
                displayed_filename=file.path,
            )
        return part

    def _differs(self, file: HubFile, found: str) -> ModelError:
        return ModelError(
            f"{file.path} of {self.entry.repository} has the SHA-256 {found[:16]}..., which is not "
            "the one that was promised. It was not kept: run the command again; if it stays so, "
            "the hub or what lies between holds another file than this localrag knows"
        )


def _same(path: Path, promised: str | None, blob: str | None) -> bool:
    """Return whether a file has the promised SHA-256, or git's hash where none was promised."""
    return sha256_of(path) == promised if promised else _git_blob(path) == blob


def _ourselves() -> dict[str, str]:
    """Return who asks, for the hub."""
    return {"library_name": "localrag", "library_version": version("localrag")}


def _git_blob(path: Path) -> str:
    """Return the hash under which git, and so the hub, keeps a file that is not in LFS."""
    content = path.read_bytes()  # such files are small
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def _reason(
    library: Any,  # noqa: ANN401 - as above
    error: Exception,
    entry: CatalogueEntry,
    endpoint: str,
) -> str:
    """Return in words why the hub did not give what was asked, and what to do."""
    errors = library.errors
    said = " ".join(str(error).split("\nFor more", maxsplit=1)[0].split())
    if isinstance(error, errors.OfflineModeIsEnabled):
        return "HF_HUB_OFFLINE is set, so that nothing can be fetched: unset it and run this again"
    if isinstance(error, errors.GatedRepoError):
        return (
            f"{entry.repository} is given only to those who accept its terms: do so on "
            f"{endpoint}/{entry.repository}, log in with hf auth login, and run this again"
        )
    status = getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(error, errors.RepositoryNotFoundError) or status in CLOSED:
        return (
            f"{endpoint} has no {entry.repository}, or does not show it to you: log in with "
            "hf auth login if it is private, and look whether HF_ENDPOINT names the right hub"
        )
    if isinstance(error, errors.RevisionNotFoundError | errors.RemoteEntryNotFoundError):
        return (
            f"{entry.repository} no longer has the files that this localrag knows ({said}): "
            "update localrag, or bring the model with localrag models add FOLDER"
        )
    return (
        f"{entry.name} could not be fetched from {endpoint}: {said}. Look at the network, and at "
        "HF_ENDPOINT if you use a mirror. What has arrived is kept: the same command goes on "
        "from there"
    )

"""The target of `skyrl-train images`: a run or a data set, with options of the command line over the run's settings."""

import argparse
import os
from dataclasses import dataclass

from skyrl_train.config.load import ConfigError, read
from skyrl_train.config.sections.sandbox import SandboxSection
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.sandbox.references import BadReferenceError, Reference, parse_reference
from skyrl_train.tasks.datasets import images_of, is_dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The images that TARGET needs, and where they come from."""

    references: tuple[Reference, ...]
    bad: tuple[str, ...]
    without: int
    unread: tuple[str, ...]
    """One reason for each row that cannot be read."""
    sandbox: SandboxSection
    """Where images come from and what is built into them: the target's section with the options over it."""


def asked_of(args: argparse.Namespace) -> Asked:
    files, section = [args.target], SandboxSection()
    if not is_dataset(args.target):
        try:
            config = read(args.target)
        except ConfigError as error:
            raise UsageError(f"{args.target}: {error}") from None
        except (OSError, ValueError) as error:
            raise UsageError(f"{args.target}: {getattr(error, 'strerror', None) or error}") from None
        files, section = [*config.data.train_files, *config.data.val_files], config.sandbox
    if not files:
        raise UsageError(f"{args.target} names no data set; set data.train_files")
    sandbox = with_options(args, section)
    if sandbox.image_archive and not os.path.isdir(sandbox.image_archive):
        raise UsageError(f"{sandbox.image_archive} does not exist; give the directory that holds the image archives")
    unread: list[str] = []
    found, without = images_of(files, bad=unread.append)
    good: dict[str, Reference] = {}
    bad: list[str] = []
    for image in found:
        try:
            reference = parse_reference(image.name, prefix=sandbox.image_prefix)
            good.setdefault(reference.stored_as, reference)
        except BadReferenceError as error:
            bad.append(str(error))
    return Asked(
        references=tuple(good.values()), bad=tuple(bad), without=without, unread=tuple(unread), sandbox=sandbox
    )


def with_options(args: argparse.Namespace, section: SandboxSection) -> SandboxSection:
    words = {
        "image_archive": args.archive,
        "image_mirror": args.mirror,
        "image_prefix": args.prefix,
        "agent_server": args.agent_server,
        "agent_server_version": args.sdk_version,
    }
    return section.model_copy(update={name: word for name, word in words.items() if word})

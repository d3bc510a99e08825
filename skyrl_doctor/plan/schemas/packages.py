"""Where prime-rl and SkyRL keep the configuration classes of their programs, in every layout they have had."""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.plan.schemas.bounds import with_shared
from skyrl_doctor.plan.schemas.classes import ConfigClasses, ReadModule


@record
class Package:
    """`roots`: folders of a checkout that hold the package. `classes`: (module, class) of each program, newest first.
    `compares_types`: a value of another type stops the program when it starts.
    """

    name: str
    roots: tuple[str, ...]
    classes: Mapping[str, tuple[tuple[str, str], ...]]

    title: str
    compares_types: bool
    shares: tuple[str, str, str] | None = None
    """The program that hands values of its own keys to the programs in it, and the module and function that do it."""

    @property
    def table(self) -> str:
        """The name of its stored table."""
        return self.name.replace("-", "_")

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that show a checkout of the package."""
        modules = dict.fromkeys(module for places in self.classes.values() for module, _ in places)
        return tuple(f"{root}{module.replace('.', '/')}.py" for module in modules for root in self.roots)


PRIME = Package(
    "prime-rl",
    ("packages/prime-rl-configs/src/", "src/"),
    {
        "rl": (("prime_rl.configs.rl", "RLConfig"), ("prime_rl.rl_config", "RLConfig"), ("prime_rl.rl", "RLConfig")),
        "trainer": (
            ("prime_rl.configs.trainer", "TrainerConfig"),
            ("prime_rl.trainer.rl.config", "RLTrainerConfig"),
            ("prime_rl.trainer.config", "TrainerConfig"),
        ),
        "orchestrator": (
            ("prime_rl.configs.orchestrator", "OrchestratorConfig"),
            ("prime_rl.orchestrator.config", "OrchestratorConfig"),
        ),
        "inference": (
            ("prime_rl.configs.inference", "InferenceConfig"),
            ("prime_rl.inference.config", "InferenceConfig"),
        ),
        "sft": (("prime_rl.configs.sft", "SFTConfig"), ("prime_rl.trainer.sft.config", "SFTTrainerConfig")),
        "evals": (
            ("prime_rl.configs.evals", "EvalsConfig"),
            ("prime_rl.eval.config", "OfflineEvalConfig"),
        ),
        "env-server": (
            ("prime_rl.configs.env_server", "EnvServerConfig"),
            ("prime_rl.orchestrator.env_server.config", "EnvServerConfig"),
        ),
        "synthesize": (("prime_rl.synthesize.config", "SynthesizeConfig"),),
    },
    title="prime-rl",
    compares_types=True,
    shares=("rl", "prime_rl.utils.validation", "propagate_shared_fields"),
)
SKYRL = Package(
    "skyrl",
    ("", "skyrl-train/", "skyrl-gym/"),
    {
        "train": (
            ("skyrl.train.config.config", "SkyRLTrainConfig"),
            ("skyrl.train.config.config", "SkyRLConfig"),
            ("skyrl_train.config.config", "SkyRLTrainConfig"),
            ("skyrl_train.config.config", "SkyRLConfig"),
        ),
        "sft": (
            ("skyrl.train.config.sft_config", "SFTConfig"),
            ("skyrl.train.sft_config", "SFTConfig"),
        ),
    },
    title="SkyRL",
    compares_types=False,
)


def program_keys(package: Package, read: ReadModule) -> Iterator[tuple[str, dict[str, str]]]:
    """Each program with its keys. A table that is another program's configuration is written as `@NAME`."""
    plain = ConfigClasses(read)
    places = {
        program: next((place for place in found if plain.has(*place)), None)
        for program, found in package.classes.items()
    }
    references = {place: program for program, place in places.items() if place is not None}
    made: dict[str, dict[str, str]] = {}
    for program, place in places.items():
        if place is not None:
            others = {other: name for other, name in references.items() if name != program}
            made[program] = plain.with_references(others).keys(*place)
    if package.shares is not None:
        sharing, module, function = package.shares
        source = read(module)
        if sharing in made and source is not None:
            made[sharing] = with_shared(made[sharing], made, source, function)
    yield from made.items()

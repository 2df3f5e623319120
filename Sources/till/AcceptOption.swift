import ArgumentParser
import Proofs

/// The option that names the accepted origins of a ledger that a command opens itself.
struct AcceptOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "An accepted origin of the ledger without --server, as for till serve (default: those of a local store).",
            valueName: "origin"))
    var accept: [Origin] = []

    var origins: Set<Origin> { accept.isEmpty ? Origin.defaultAccepted : Set(accept) }
}

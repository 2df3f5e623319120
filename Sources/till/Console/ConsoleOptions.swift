import ArgumentParser
import Console
import Features
import Ledger
import Proofs

/// The options of the commands about the people of the console.
struct ConsoleOptions: ParsableArguments {
    @OptionGroup var ledger: LedgerOptions

    /// - Parameter isNew: True if the command creates a missing ledger.
    func team(_ common: CommonOptions, isNew: Bool = false) throws -> TeamService {
        let ledger = try ledger.place(common, isNew: isNew).open(.all(usesConsole: isNew), migrates: isNew)
        return TeamService(ledger: ledger, clock: SystemClock(), randomness: .system)
    }
}

/// The option with the address of the service.
struct ConsoleAddressOption: ParsableArguments {
    @Option(help: ArgumentHelp("The address at which browsers reach the service.", valueName: "url"))
    var url = "http://127.0.0.1:8080"

    func validate() throws {
        guard ServerURL(argument: url) != nil else {
            throw ValidationError("--url must be an http or https address; it is \"\(url.prefix(256))\".")
        }
    }

    /// The link of an invitation.
    func link(_ secret: String) -> String {
        InvitationLink.text(secret, at: url.hasSuffix("/") ? String(url.dropLast()) : url)
    }
}

extension TeamRole: ExpressibleByArgument {}

import ArgumentParser
import Foundation
import Ledger

/// `till ledger`
struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Check the record of who owns what, and back it up; both while the service runs.",
        subcommands: [LedgerCheck.self, LedgerBackup.self])
}

/// `till ledger check`
struct LedgerCheck: Command {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check that the file is whole and every rule of the ledger holds.")

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let report = try LedgerFile(common.existingServiceDirectory.ledgerFile).check()
        console.line(
            "users \(report.users), redeemed transactions \(report.redeemedTransactions), grants \(report.grants), "
                + "notifications \(report.notifications)")
        if !report.isOfThisVersion {
            console.line(
                "of an earlier version: till serve takes it over when it starts, and all of its rules can be checked then"
            )
        }
        report.problems.forEach(console.line)
        console.line(report.problems.isEmpty ? "sound" : "not sound")
        try console.json(report)
        guard report.problems.isEmpty else { throw ExitCode(1) }
    }
}

/// `till ledger backup`
struct LedgerBackup: Command {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the ledger, as it is at one moment, into a new file.")

    @Argument(help: ArgumentHelp("The file to make.", valueName: "file"))
    var file: String

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let url = URL(filePath: file, directoryHint: .notDirectory)
        try LedgerFile(common.existingServiceDirectory.ledgerFile).backUp(to: url)
        console.line("\(url.path)")
        try console.json(["file": url.path])
    }
}

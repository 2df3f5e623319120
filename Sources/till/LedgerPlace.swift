import AppStore
import ArgumentParser
import Foundation
import HTTPSupport
import Ledger
import Proofs
import Service

/// The location of the ledger: a file in the data directory, or a PostgreSQL database.
enum LedgerPlace {
    case file(URL)
    case postgreSQL(PostgreSQLAddress)

    /// - Parameter address: Nil for the file.
    init(_ address: PostgreSQLAddress?, in data: DataDirectory) {
        self = address.map { .postgreSQL($0) } ?? .file(data.ledgerFile)
    }

    /// - Parameter migrates: True if missing tables and columns are added.
    func open(
        _ features: [LedgerFeature] = .all(),
        migrates: Bool = true
    ) throws(StorageFault) -> Ledger {
        switch self {
        case .file(let file): try Ledger(file: file, features: features, migrates: migrates)
        case .postgreSQL(let address): try Ledger(address, features: features, migrates: migrates)
        }
    }

    func check() throws -> LedgerReport {
        switch self {
        case .file(let file): try LedgerFile(file, features: .all()).check()
        case .postgreSQL(let address): try Ledger(address, features: .all(), migrates: false).check()
        }
    }

    /// - Parameter isNew: True if a missing ledger is created.
    func apiKeys(isNew: Bool = false) throws(StorageFault) -> APIKeys {
        APIKeys(ledger: try open(migrates: isNew), clock: SystemClock(), randomness: .system)
    }
}

/// The options that select the ledger of a command.
struct LedgerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A PostgreSQL database as the ledger: postgres://user@host/database (default: $TILL_LEDGER, else a file in the data "
                + "directory).", valueName: "url"))
    var ledger: String?

    /// The address of the PostgreSQL database; nil for a file.
    ///
    /// - Throws: `PostgreSQLAddressError`.
    var address: PostgreSQLAddress? {
        get throws {
            // An empty variable is the same as none.
            try [ledger, ProcessInfo.processInfo.environment["TILL_LEDGER"]].compactMap(\.self).first { !$0.isEmpty }
                .map { try PostgreSQLAddress($0) }
        }
    }

    /// The option of another command that leads to the same ledger, without a password; empty without `--ledger`.
    var options: [String] {
        guard let ledger, let address = try? PostgreSQLAddress(ledger) else { return [] }
        return ["--ledger", address.description]
    }

    /// - Parameter isNew: True if the command creates a missing ledger.
    /// - Throws: `DataDirectoryMissing` if there is none; `PermissionDenied`; `PostgreSQLAddressError`.
    func place(_ common: CommonOptions, isNew: Bool = false) throws -> LedgerPlace {
        let data = common.dataDirectory
        let place = LedgerPlace(try address, in: data)
        guard case .file = place else { return place }
        if isNew { try data.prepareService() } else { try data.requireLedger() }
        return place
    }
}

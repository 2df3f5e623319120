import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport

/// The place of a simulation's ledger: a file, or a schema in PostgreSQL if `TILL_SIMULATION_LEDGER` is `postgres`.
enum SimulatedLedger {
    case file(URL)
    case schema(TestSchema)

    private static let isFile = ProcessInfo.processInfo.environment["TILL_SIMULATION_LEDGER"] != "postgres"

    /// The file of an empty ledger. It is created once, because that is slow.
    private static let emptyFile = Result {
        let folder = try TemporaryFolder()
        let file = folder.file("ledger.sqlite")
        _ = try Ledger(file: file)
        try LedgerFile(file).backUp(to: folder.file("copy.sqlite"))
        return try folder.bytes("copy.sqlite")
    }

    /// Creates an empty ledger.
    ///
    /// - Parameter name: The name of the file, if the ledger is in one.
    static func make(in folder: TemporaryFolder, named name: String) throws -> SimulatedLedger {
        guard isFile else { return .schema(try TestSchema()) }
        let file = folder.file("\(name).sqlite")
        try Data(emptyFile.get()).write(to: file)
        return .file(file)
    }

    func open(randomness: Randomness) throws -> Ledger {
        Ledger(storage: try storage(), randomness: randomness)
    }

    func storage() throws -> any LedgerStorage {
        switch self {
        case .file(let file): try SQLiteStorage(file: file)
        case .schema(let schema):
            try PostgreSQLStorage(try PostgreSQLAddress(schema.address), features: .all, randomness: .system)
        }
    }

    /// A sentence for each broken rule of the ledger.
    func problems() throws -> [String] {
        switch self {
        case .file(let file): try LedgerFile(file).check().problems
        case .schema: try open(randomness: .system).check().problems
        }
    }
}

import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import Vocabulary

// Ledgers of every feature.

extension Ledger {
    package init(file: URL, randomness: Randomness = .system, migrates: Bool = true) throws(StorageFault) {
        try self.init(file: file, features: .all, randomness: randomness, migrates: migrates)
    }

    package init(_ address: PostgreSQLAddress, randomness: Randomness = .system, migrates: Bool = true)
        throws(StorageFault)
    {
        try self.init(address, features: .all, randomness: randomness, migrates: migrates)
    }
}

extension SQLiteStorage {
    package convenience init(file: URL) throws(StorageFault) {
        try self.init(file: file, features: .all)
    }
}

extension LedgerFile {
    package init(_ url: URL) {
        self.init(url, features: .all)
    }
}

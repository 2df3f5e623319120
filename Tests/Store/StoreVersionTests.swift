import AppStore
import Foundation
import GRDB
import HTTPSupport
import Proofs
import TestSupport
import Testing
import Vocabulary

/// Databases that another version of Till wrote.
@Suite struct StoreVersionTests {
    private static let changes = [
        // A development version.
        "PRAGMA user_version = 0; CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)",
        "PRAGMA user_version = 0; DROP TABLE team_key", "PRAGMA user_version = 2",
    ]

    @Test(arguments: changes, ["WAL", "DELETE"])
    func `a database of another version is refused, and stays unchanged`(change: String, journal: String) throws {
        let shop = try TestShop()
        let folder = shop.folder.folder("other")
        try TestShop.installKeys(in: folder)
        func open() throws -> Store {
            try Store(
                folder: folder, bundleIdentifier: shop.catalog.bundleIdentifier,
                configuration: shop.catalog.configuration, clock: shop.clock, randomness: .system)
        }
        do {
            _ = try open().add(Payment(productIdentifier: "com.memolease.sesac1.sprout1"), account: "alice")
        }
        let file = folder.appending(path: "store.sqlite", directoryHint: .notDirectory)
        let database = try DatabaseQueue(path: file.path)
        try database.writeWithoutTransaction { try $0.execute(sql: "\(change); PRAGMA journal_mode = \(journal)") }
        try database.close()
        let before = try Data(contentsOf: file)
        #expect(throws: StoreError.storage(StorageFault(cause: .otherVersion, path: file.path))) { try open() }
        #expect(try Data(contentsOf: file) == before)
    }
}

import Commerce
import Foundation
import GRDB
import Store
import TestSupport
import Testing

/// Stores of an earlier version.
@Suite struct StoreMigrationTests {
    @Test func `the sales of the first version are migrated`() throws {
        let shop = try TestShop()
        let folder = shop.folder.folder("first")
        try TestShop.installKeys(in: folder)
        try DatabaseQueue(path: folder.appending(path: "store.sqlite").path).write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('1: payment transactions');
                    CREATE TABLE payment_transaction (
                        identifier INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, product_id TEXT NOT NULL,
                        quantity INTEGER NOT NULL, outcome TEXT NOT NULL, state TEXT NOT NULL, error INTEGER,
                        transaction_id TEXT UNIQUE, original_transaction_id TEXT, purchase_date INTEGER,
                        original_purchase_date INTEGER, price INTEGER, currency TEXT
                    ) STRICT;
                    CREATE INDEX payment_transaction_by_account ON payment_transaction (account, product_id);
                    INSERT INTO payment_transaction VALUES
                        (1, 'alice', 'com.memolease.sesac1.sprout1', 1, 'purchased', 'finished', NULL, '21', '21', 5000, 5000,
                            1200000, 'KRW'),
                        (2, 'alice', 'com.memolease.sesac1.sprout2', 1, 'deferred', 'deferred', NULL, NULL, NULL, NULL,
                            NULL, NULL, NULL),
                        (7, 'alice', 'com.memolease.sesac1.sprout1', 1, 'purchased', 'restored', NULL, '22', '21', 9000, 5000,
                            0, 'KRW'),
                        (8, 'bob', 'com.memolease.sesac1.sprout1', 1, 'cancelled', 'failed', 2, NULL, NULL, NULL, NULL,
                            NULL, NULL);
                    """)
        }
        let store = try Store(
            folder: folder, bundleIdentifier: shop.catalog.bundleIdentifier, configuration: shop.catalog.configuration,
            clock: shop.clock, randomness: .system)
        let queue = try store.transactions().map(\.transaction)
        #expect(queue.map(\.identifier) == [1, 2, 7, 8])
        #expect(queue.map(\.state) == [.finished, .deferred, .restored, .failed])
        #expect(queue[2].purchase?.originalTransactionIdentifier == "21")
        #expect(queue[0].purchase?.price == Price(milliunits: 1_200_000, currency: "KRW"))
        #expect(queue[3].error == .paymentCancelled)
        #expect(try store.history(of: "alice").map(\.transactionIdentifier) == ["21", "22"])
        // The store continues to sell, under new numbers.
        #expect(try store.approve(2).transaction.state == .purchased)
        #expect(try store.finish(7, account: "alice").state == .finished)
        let added = try store.add(Payment(productIdentifier: "com.memolease.sesac1.sprout3"), account: "bob")
        #expect(added.identifier > 8)
        try store.refund("21")
        #expect(try store.history(of: "alice").filter { $0.revocation != nil }.count == 2)
    }
}

import AppStore
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

@Suite struct StoreProofTests {
    let shop: TestShop

    init() throws {
        shop = try TestShop()
    }

    private func buy(_ product: String) throws -> PaymentTransaction {
        _ = try shop.store.add(Payment(productIdentifier: "com.memolease.sesac1.\(product)"), account: "alice")
        return try #require(try shop.store.process(account: "alice").first)
    }

    @Test func `the receipt has the purchases and nothing else`() throws {
        let bought = [try buy("sprout1"), try buy("background2")]
        _ = try shop.store.add(
            Payment(productIdentifier: "com.memolease.sesac1.sprout3"), account: "alice", outcome: .failed(.unknown))
        _ = try shop.store.process(account: "alice")
        let proof = try shop.verifier().verify(
            Array(try shop.store.receipt(account: "alice").utf8), expecting: ProofExpectations())
        #expect(proof.origin == .localSandbox)
        #expect(
            proof.purchases?.map(\.transactionIdentifier).sorted()
                == bought.compactMap { $0.purchase?.transactionIdentifier }.sorted())
        #expect(proof.purchases?.map(\.productIdentifier).sorted() == bought.map(\.payment.productIdentifier).sorted())
        guard case .appReceipt(let receipt) = proof.content else {
            Issue.record("another kind of proof")
            return
        }
        let types = Set(receipt.otherAttributes.map(\.type))
        #expect(types == [6, 7, 8, 9, 11, 13, 14, 20, 25])
        #expect(receipt.opaqueValue.count == 16)
        #expect(receipt.deviceHash.count == 20)
    }

    @Test func `the signed transaction describes the purchase`() throws {
        let bought = try buy("sprout1")
        let proof = try shop.verifier().verify(
            Array(try shop.store.signedTransaction(bought.identifier).utf8), expecting: ProofExpectations())
        guard case .transaction(let transaction) = proof.content else {
            Issue.record("another kind of proof")
            return
        }
        #expect(transaction.transactionId == bought.purchase?.transactionIdentifier)
        #expect(transaction.purchaseDate == shop.clock.now())
        #expect(transaction.fields["price"] == .integer(1_200_000))
        #expect(transaction.fields["currency"] == "KRW")
        #expect(transaction.fields["storefront"] == "KOR")
        #expect(transaction.fields["storefrontId"] == "143466")
        #expect(transaction.fields["appAccountToken"] == nil)
    }

    @Test(
        arguments: [(.production, 1_234_567_890), (.sandbox, nil)] as [(AppStoreEnvironment, Int64?)])
    func `answers and proofs have the app's number in Production only`(
        environment: AppStoreEnvironment,
        number: Int64?
    ) throws {
        let garden = try TestGarden(environment: environment, appAppleIdentifier: 1_234_567_890)
        let bought = try #require(try garden.buy("garden.basic.monthly").purchase).transactionIdentifier
        let (history, statuses, signed) = try garden.store.readOrThrow { books in
            (
                try books.transactionHistory(bought, TransactionHistoryQuery([]), version: .v2),
                try books.allSubscriptionStatuses(bought, statuses: []), try books.signedAppTransaction(of: "alice")
            )
        }
        guard case .appTransaction(let app) = try garden.verify(signed) else {
            Issue.record("another kind of proof")
            return
        }
        #expect(app.appAppleId == number)
        #expect((history.appAppleId, statuses.appAppleId) == (number, number))
        for answer in [try JSONEncoder().encode(history), try JSONEncoder().encode(statuses)] {
            #expect(String(decoding: answer, as: UTF8.self).contains("appAppleId") == (number != nil))
        }
    }

    @Test func `two stores at once make one set of keys`() async throws {
        let folder = try TemporaryFolder()
        let roots = try await withThrowingTaskGroup(of: [Certificate].self) { group in
            for _ in 0..<6 {
                group.addTask {
                    try Store(
                        folder: folder.url, bundleIdentifier: shop.catalog.bundleIdentifier,
                        configuration: shop.catalog.configuration, clock: shop.clock, randomness: .system
                    )
                    .rootCertificates
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(roots).count == 1)
        #expect(roots[0].count == 2)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!names.contains("keys.unfinished"))
    }

    @Test func `only the owner can read private keys`() throws {
        let keys = shop.folder.folder("store/keys")
        let files = try FileManager.default.contentsOfDirectory(at: keys, includingPropertiesForKeys: nil)
        let private_ = files.filter { $0.pathExtension == "pem" }
        #expect(private_.count == 6)
        for file in private_ {
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(arguments: ["transactions-leaf.pem", "receipts-leaf.cer", "receipts-root.cer"])
    func `damaged keys are reported and not replaced`(name: String) throws {
        try FileManager.default.removeItem(at: shop.folder.folder("store/keys").appending(path: name))
        #expect(throws: StoreError.keysUnreadable(path: shop.folder.folder("store/keys").path)) { try shop.reopened() }
    }
}

import AppStore
import Entitlements
import Foundation
import HTTPSupport
import Proofs
import Service
import Testing
import Vocabulary

@Suite struct RedemptionJSONTests {
    /// The JSON that is written field by field equals the encoded `Redemption`.
    @Test(arguments: [Redemption.Outcome.granted, .revoked, .unchanged, .partlyRefused, .nothingToRedeem])
    func `the JSON has every member of a redemption`(outcome: Redemption.Outcome) throws {
        let results: [Redemption.Result] = [
            .granted, .alreadyRedeemed, .revoked, .ownedByAnotherUser, .transferTooSoon, .appAccountTokenMismatch,
            .productUnknown, .transactionConflict,
        ]
        let redemption = Redemption(
            outcome: outcome,
            transactions: results.map {
                .init(transactionId: "1\"\\", productId: "a/b\u{7}\u{8}\u{C}\n\r\tü🌱", result: $0)
            },
            items: [Item(collection: "sprout", number: 1), Item(collection: "gate", number: 0)])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(try redemption.json() == Array(encoder.encode(redemption)))
    }

    @Test func `an owned item is written as its wire type`() throws {
        let transaction = RedeemedTransaction(
            sequence: 1, origin: .localSandbox, transactionIdentifier: "2", originalTransactionIdentifier: "1",
            productIdentifier: "a/b", purchaseDate: Timestamp(secondsSince1970: 0),
            redeemedAt: Timestamp(secondsSince1970: 0))
        let plus = Item(collection: "plus", number: 1)
        let since = Timestamp(secondsSince1970: 0)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for owned in [
            OwnedItem(
                item: plus, source: .purchase(ItemPurchase(transaction)), state: .active, since: since,
                until: since.adding(days: 30), renews: true),
            OwnedItem(item: plus, source: .grant(identifier: "g"), since: since),
            OwnedItem(item: plus, source: .rule, since: nil),
        ] {
            let text = String(decoding: try owned.json(), as: UTF8.self)
            let resource = try JSONDecoder().decode(OwnedItemResource.self, from: Data(text.utf8))
            #expect(String(decoding: try encoder.encode(resource), as: UTF8.self) == text)
            #expect(resource.item == plus)
        }
    }

    private static let isMeasured = ProcessInfo.processInfo.environment["TILL_MEASURE"] != nil

    /// The time of one answer, in microseconds.
    private func time(_ write: () throws -> [UInt8]) rethrows -> Double {
        let (rounds, clock) = (20_000, ContinuousClock())
        let elapsed = try clock.measure {
            for _ in 0..<rounds { _ = try write() }
        }
        return elapsed / .microseconds(1) / Double(rounds)
    }

    @Test(.enabled(if: isMeasured, "TILL_MEASURE is not set"))
    func `an answer written field by field takes less time than an encoded one`() throws {
        let redemption = Redemption(
            outcome: .granted,
            transactions: [
                .init(transactionId: "2000000000000001", productId: "com.memolease.sesac1.sprout1", result: .granted)
            ],
            items: (0..<4).map { Item(collection: "sprout", number: $0) })
        let written = try time { try redemption.json() }
        let encoded = try time { try JSONAnswer.encode(redemption) }
        print("written \(written) µs, encoded \(encoded) µs")
        #expect(written < encoded)
    }
}

import AppStoreClient
import Commerce
import Foundation
import HTTPSupport
import Service
import StoreHTTP
import Testing
import Wire

@Suite struct RedemptionJSONTests {
    /// What is written member by member is what `Redemption`, as it is read, would be written as.
    @Test(arguments: [Redemption.Outcome.granted, .revoked, .unchanged, .partlyRefused, .nothingToRedeem])
    func nothingIsLeftOut(outcome: Redemption.Outcome) throws {
        let results: [Redemption.Result] = [
            .granted, .alreadyRedeemed, .revoked, .ownedByAnotherUser, .transferTooSoon, .appAccountTokenMismatch,
            .productUnknown,
        ]
        let redemption = Redemption(
            outcome: outcome,
            transactions: results.map {
                .init(transactionId: "1\"\\", productId: "a/b\u{7}\u{8}\u{C}\n\r\tü🌱", result: $0)
            },
            items: [Item(collection: "sprout", number: 1), Item(collection: "gate", number: 0)])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(redemption.json.compactText == String(decoding: try encoder.encode(redemption), as: UTF8.self))
    }
}

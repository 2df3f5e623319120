import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// Offers that the author of a `.storekit` file has not finished.
@Suite struct UnfinishedOfferTests {
    private let folder: TemporaryFolder
    private let store: Store

    init() throws {
        folder = try TemporaryFolder()
        let text = try String(contentsOf: TestGarden.file, encoding: .utf8)
            .replacing(#""paymentMode" : "payAsYouGo""#, with: #""paymentMode" : "none""#)
        try TestShop.installKeys(in: folder.folder("store"))
        store = try Store(
            folder: folder.folder("store"), bundleIdentifier: TestGarden.bundleIdentifier,
            configuration: try StoreKitConfiguration(json: Array(text.utf8), file: "f"), clock: ManualClock(),
            randomness: .seeded(7))
    }

    private func buy(_ offer: Payment.OfferChoice?) throws -> PaymentTransactionState? {
        _ = try store.add(Payment(productIdentifier: "garden.basic.monthly", offer: offer), account: "alice")
        return try store.process(account: "alice").last?.state
    }

    @Test func `an unfinished offer is named when it is bought`() throws {
        #expect(
            throws: StoreError.invalidAction(
                "The promotional offer \"spring\" of \"garden.basic.monthly\" has no paymentMode. Complete it in the "
                    + ".storekit file.")
        ) { try buy(Payment.OfferChoice(kind: .promotional, identifier: "spring")) }
    }

    @Test func `the product is sold without the offer`() throws {
        #expect(try buy(nil) == .purchased)
    }
}

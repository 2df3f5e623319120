import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// Simulated errors of StoreKit's calls, and offers that the customer is not eligible for.
@Suite struct SimulatedErrorTests {
    let garden: TestGarden
    private var store: Store { garden.store }
    private static let monthly = "garden.basic.monthly"

    init() throws {
        garden = try TestGarden()
    }

    private func fail(_ call: StoreKitCall, with failure: StoreKitFailure?) throws {
        _ = try store.update { $0.simulatedErrors[call] = failure }
    }

    private func make(_ call: StoreKitCall, of sold: String) throws {
        switch call {
        case .loadProducts: _ = try store.read { try $0.products() }
        case .purchase: try garden.buy("garden.seeds")
        case .verification: try garden.verify(try store.signedTransaction(1))
        case .appStoreSync: try store.restoreCompletedTransactions(account: "alice")
        case .subscriptionStatus: _ = try store.read { try $0.subscriptionStatuses(of: "alice") }
        case .appTransaction: _ = try store.read { try $0.signedAppTransaction(of: "alice") }
        case .manageSubscriptionsSheet: try store.setAutoRenew(false, of: sold)
        case .refundRequestSheet: try store.requestRefund(of: sold)
        case .offerCodeRedeemSheet:
            try garden.buy(
                Self.monthly, offer: Payment.OfferChoice(kind: .offerCode, identifier: "FAIR"), account: "bob")
        }
    }

    @Test(arguments: StoreKitCall.allCases) func `a call fails while its error is simulated`(call: StoreKitCall) throws
    {
        let sold = try #require(try garden.buy(Self.monthly).purchase?.transactionIdentifier)
        for failure in call.failures {
            try fail(call, with: failure)
            let (history, notifications) = (try store.history(of: "alice"), try store.notifications())
            if call == .verification {
                #expect { try make(call, of: sold) } throws: { ($0 as? ProofRefusal)?.code == "signatureInvalid" }
            } else {
                #expect(throws: StoreError.simulated(call, failure)) { try make(call, of: sold) }
            }
            #expect(try store.history(of: "alice") == history)
            #expect(try store.notifications() == notifications)
        }
        try fail(call, with: nil)
        try make(call, of: sold)
    }

    @Test func `a simulated verification error leaves notifications valid`() throws {
        try fail(.verification, with: .invalidSignature)
        try garden.buy("garden.seeds")
        #expect(try garden.notifications().count == 1)
    }

    @Test(
        arguments: [
            (
                #"{"current":{"type":"generic","index":2},"enabled":true,"name":"Load Products"}"#,
                StoreKitCall.loadProducts, .networkError
            ),
            (
                #"{"current":{"type":"purchase","index":1},"enabled":true,"name":"Purchase"}"#, .purchase,
                .productUnavailable
            ),
            (#"{"current":{"type":"generic","index":1},"enabled":true,"name":"Purchase"}"#, .purchase, .userCancelled),
            (
                #"{"current":{"type":"verification","index":4},"enabled":true,"name":"Verification"}"#, .verification,
                .invalidSignature
            ),
            (
                #"{"current":{"type":"generic","index":0},"enabled":true,"name":"Offer Code Redeem Sheet"}"#,
                .offerCodeRedeemSheet, .unknown
            ),
            (#"{"current":{"type":"generic","index":0},"enabled":false,"name":"Purchase"}"#, .purchase, nil),
            (#"{"current":null,"enabled":true,"name":"Purchase"}"#, .purchase, nil),
            (#"{"current":{"type":"generic","index":99},"enabled":true,"name":"Purchase"}"#, .purchase, nil),
            (#"{"current":{"type":"purchase","index":1},"enabled":true,"name":"App Store Sync"}"#, .appStoreSync, nil),
            (#"{"current":{"type":"later","index":1},"enabled":true,"name":"Another Sheet"}"#, .appStoreSync, nil),
        ] as [(String, StoreKitCall, StoreKitFailure?)])
    func `the errors of a file are in the order of the SDK`(
        entry: String,
        call: StoreKitCall,
        failure: StoreKitFailure?
    ) throws {
        let file = #"{"products":[],"settings":{"_storeKitErrors":[\#(entry)]}}"#
        let settings = try StoreKitConfiguration(json: Array(file.utf8), file: "f").settings
        #expect(settings.storeKitErrors == (failure.map { [call: $0] } ?? [:]))
    }

    @Test func `an offer code is for the customers of its configuration`() throws {
        let code = Payment.OfferChoice(kind: .offerCode, identifier: "FAIR")
        let first = try garden.buy(Self.monthly, offer: code)
        #expect(first.error == nil)
        #expect(try store.history(of: "alice").last?.offer?.kind == .offerCode)
        // Only for new customers.
        #expect(try garden.buy(Self.monthly, offer: code).error == .ineligibleForOffer)
        try store.expire(try #require(first.purchase?.transactionIdentifier))
        #expect(try garden.buy(Self.monthly, offer: code).error == .ineligibleForOffer)
        #expect(try garden.buy(Self.monthly, offer: code, account: "bob").error == nil)
    }

    @Test(arguments: [0, 1, .min, .max, 1_790_000_000_000] as [Int64])
    func `an offer without a valid signature is refused`(
        timestamp: Int64
    ) throws {
        let signature = PromotionalOfferSignature(
            keyIdentifier: "ABCDEFGH", nonce: UUID(), timestamp: Timestamp(millisecondsSince1970: timestamp),
            signature: "MAA=")
        try garden.buy(Self.monthly)
        let offer = Payment.OfferChoice(kind: .promotional, identifier: "spring", signature: signature)
        #expect(try garden.buy(Self.monthly, offer: offer).error == .invalidSignature)
    }
}

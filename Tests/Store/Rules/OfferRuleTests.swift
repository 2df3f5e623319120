import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import Testing

/// The offers of `basic.monthly`: a free week, `spring` for former customers, `FAIR` for new ones, and `again`.
@Suite struct OfferRuleTests {
    private static let spring = Payment.OfferChoice(kind: .promotional, identifier: "spring")
    private static let autumn = Payment.OfferChoice(kind: .promotional, identifier: "autumn")
    private static let fair = Payment.OfferChoice(kind: .offerCode, identifier: "FAIR")
    private static let again = Payment.OfferChoice(kind: .winBack, identifier: "again")
    private static let springOfAnotherKind = Payment.OfferChoice(kind: .winBack, identifier: "spring")

    @Test(
        arguments: [
            // No request: the introductory offer, once, for a new or returning customer.
            (nil, .new, false, "introductory"), (nil, .expired, false, "introductory"),
            (nil, .existing, false, "standard price"), (nil, .new, true, "standard price"),
            (nil, .expired, true, "standard price"),
            // Promotional offers.
            (spring, .new, false, "ineligibleForOffer"),
            (spring, .existing, false, "promotional"),
            (spring, .expired, true, "promotional"),
            (autumn, .existing, false, "invalidOfferIdentifier"),
            // Offer codes.
            (fair, .new, true, "offerCode"),
            (fair, .existing, false, "ineligibleForOffer"),
            (fair, .expired, false, "ineligibleForOffer"),
            // Win-back offers.
            (again, .expired, true, "winBack"),
            (again, .existing, false, "ineligibleForOffer"),
            (again, .new, false, "ineligibleForOffer"),
            // An identifier of another kind.
            (springOfAnotherKind, .expired, false, "invalidOfferIdentifier"),
            // The developer's server decides about the introductory offer.
            (.introductory(isAllowed: true), .expired, true, "introductory"),
            (.introductory(isAllowed: true), .existing, true, "introductory"),
            (.introductory(isAllowed: false), .new, false, "standard price"),
        ] as [(Payment.OfferChoice?, SubscriptionOffer.Eligibility, Bool, String)])
    func `an offer is for the customers that it names`(
        choice: Payment.OfferChoice?,
        customer: SubscriptionOffer.Eligibility,
        hadIntroductoryOffer: Bool,
        expected: String
    ) throws {
        let subscription = try #require(try RuleFixture().product("basic.monthly").subscription)
        do {
            let offer = try SubscriptionOffer.offer(
                choice, among: subscription.offers, customer: customer, hadIntroductoryOffer: hadIntroductoryOffer)
            #expect(offer.map { "\($0.kind)" } ?? "standard price" == expected)
        } catch let failure as PaymentFailure {
            #expect(failure.error.name == expected)
        }
    }

    @Test func `a product without an introductory offer costs its standard price`() throws {
        #expect(try SubscriptionOffer.offer(nil, among: [], customer: .new, hadIntroductoryOffer: false) == nil)
        #expect(throws: PaymentFailure.self) {
            try SubscriptionOffer.offer(
                .introductory(isAllowed: true), among: [], customer: .new, hadIntroductoryOffer: false)
        }
    }

    @Test(
        arguments: [
            (0, true), (86_400_000, true), (86_400_001, false), (-86_400_000, true), (-86_400_001, false),
        ] as [(Int64, Bool)])
    func `a signature is current for a day`(age: Int64, isCurrent: Bool) {
        let now = RuleFixture.now
        let signed = Timestamp(millisecondsSince1970: now.millisecondsSince1970 - age)
        #expect(Self.signature(at: signed).isCurrent(at: now) == isCurrent)
    }

    @Test(arguments: [.min, .max] as [Int64]) func `a signature of an absurd date is refused`(milliseconds: Int64) {
        let signature = Self.signature(at: Timestamp(millisecondsSince1970: milliseconds))
        #expect(!signature.isCurrent(at: RuleFixture.now))
    }

    private static func signature(at date: Timestamp) -> PromotionalOfferSignature {
        PromotionalOfferSignature(keyIdentifier: "K", nonce: UUID(), timestamp: date, signature: "")
    }

    @Test func `the subscription says which customer it is`() throws {
        let none: CustomerSubscription? = nil
        #expect(none.eligibility == .new)
        var subscription = try RuleFixture().subscription()
        #expect(Optional(subscription).eligibility == .existing)
        subscription.revoke()
        #expect(Optional(subscription).eligibility == .expired)
    }
}

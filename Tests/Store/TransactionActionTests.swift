import AppStore
import Proofs
import TestSupport
import Testing

/// The actions that a list offers for a transaction.
@Suite struct TransactionActionTests {
    /// A state of a transaction.
    enum Situation: CaseIterable {
        case consumable, refundRequested, nonConsumable, refunded, familyShared
        case subscribed, notRenewing, priceAnnounced, gracePeriod, billingRetry, expired, subscriptionRefunded
        case group, seat, endedSeat

        /// - Returns: The transaction identifier.
        func prepare(_ garden: TestGarden) throws -> String {
            let store = garden.store
            switch self {
            case .consumable: return try buy("seeds", garden)
            case .refundRequested:
                let sold = try buy("seeds", garden)
                try store.requestRefund(of: sold)
                return sold
            case .nonConsumable: return try buy("gate", garden)
            case .familyShared: return try store.share(try buy("gate", garden), with: "bob")
            case .group, .seat, .endedSeat:
                let bought = try garden.buy("garden.premium.monthly", quantity: 2).purchase
                let sold = try #require(bought).transactionIdentifier
                let seat = try store.acceptInvitation(to: sold, by: "bob")
                if self == .endedSeat { try store.endSeat(seat) }
                return self == .group ? sold : seat
            case .refunded:
                let sold = try buy("gate", garden)
                try store.refund(sold)
                return sold
            default: break
            }
            let sold = try buy("basic.monthly", garden)
            switch self {
            case .notRenewing: try store.setAutoRenew(false, of: sold)
            case .priceAnnounced: try store.requestPriceIncrease(of: sold, to: 10_000, needsConsent: true)
            case .gracePeriod: try store.failRenewal(of: sold, hasGracePeriod: true)
            case .billingRetry: try store.failRenewal(of: sold, hasGracePeriod: false)
            case .expired: try store.expire(sold)
            case .subscriptionRefunded: try store.refund(sold)
            default: break
            }
            return sold
        }

        private func buy(_ name: String, _ garden: TestGarden) throws -> String {
            try #require(try garden.buy("garden.\(name)").purchase).transactionIdentifier
        }
    }

    /// Everything that an action can change.
    private struct Snapshot: Equatable {
        let transactions: [Transaction]
        let subscriptions: [SubscriptionSummary]
        let notifications: Int

        init(_ store: Store) throws {
            transactions = try store.history(of: "alice") + store.history(of: "bob")
            subscriptions = try store.subscriptions(of: "alice") + store.subscriptions(of: "bob")
            notifications = try store.notifications().count
        }
    }

    private func perform(_ action: TransactionAction, on sold: String, _ store: Store) throws {
        switch action {
        case .requestRefund: try store.requestRefund(of: sold)
        case .refund: try store.refund(sold)
        case .declineRefund: try store.declineRefund(of: sold)
        case .reverseRefund: try store.reverseRefund(of: sold)
        case .share: _ = try store.share(sold, with: "carol")
        case .revokeFamilySharing: try store.revokeFamilySharing(of: sold)
        case .forceRenewal: try store.forceRenewal(of: sold)
        case .failRenewal: try store.failRenewal(of: sold, hasGracePeriod: true)
        case .resolveBillingIssue: try store.resolveBillingIssue(of: sold)
        case .expire: try store.expire(sold)
        case .turnAutoRenewOff: try store.setAutoRenew(false, of: sold)
        case .turnAutoRenewOn: try store.setAutoRenew(true, of: sold)
        case .moveSubscription: try store.perform(.moveSubscription, on: sold)
        case .changeSeats: try store.changeSeats(of: sold, to: 3)
        case .acceptInvitation: try store.acceptInvitation(to: sold, by: "carol")
        case .revokeSeat: try store.endSeat(sold)
        case .requestPriceIncrease: try store.requestPriceIncrease(of: sold, to: 20_000, needsConsent: true)
        case .consentToPriceIncrease: try store.consentToPriceIncrease(of: sold)
        case .declinePriceIncrease: try store.declinePriceIncrease(of: sold)
        case .delete: try store.delete(sold)
        }
    }

    @Test(arguments: Situation.allCases)
    func `each offered action changes something, and no other action does`(situation: Situation) throws {
        for action in TransactionAction.allCases {
            let garden = try TestGarden(isInMemory: true)
            let store = garden.store
            let sold = try situation.prepare(garden)
            let isOffered = try store.listedTransaction(sold).actions.contains(action)
            let before = try Snapshot(store)
            if isOffered {
                try perform(action, on: sold, store)
                let hasMember = try !store.history(of: "carol").isEmpty
                #expect(try hasMember || Snapshot(store) != before, "\(action)")
                #expect(hasMember == [.share, .acceptInvitation].contains(action), "\(action)")
            } else {
                try? perform(action, on: sold, store)
                #expect(try Snapshot(store) == before, "\(action)")
                #expect(try store.history(of: "carol").isEmpty)
            }
        }
    }

    @Test func `a purchase is shared only if the catalog allows it`() throws {
        let garden = try TestGarden()
        for (name, isShareable) in [("garden.gate", true), ("garden.seeds", false)] {
            let sold = try #require(try garden.buy(name).purchase).transactionIdentifier
            #expect(try garden.store.listedTransaction(sold).isShareable == isShareable)
        }
    }
}

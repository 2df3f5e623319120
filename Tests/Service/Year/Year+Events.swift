import AppStore
import Foundation
import Proofs
import Service
import TestSupport
import Testing

/// The events of the year, performed.
extension Year {
    func perform(_ event: YearEvent) async throws {
        journal?.lines.append("\(date) > \(event)")
        switch event {
        case .buys(let customer, let product, let quantity, let offer, let plan):
            try buy(Self.product(product), quantity: quantity, offer: offer, billed: plan, for: customer)
        case .turnsRenewal(let customer, let isOn): try store.setAutoRenew(isOn, of: try subscription(of: customer))
        case .consents(let customer): try store.consentToPriceIncrease(of: try subscription(of: customer))
        case .declines(let customer): try store.declinePriceIncrease(of: try subscription(of: customer))
        case .mendsPayment(let customer): try store.resolveBillingIssue(of: try subscription(of: customer))
        case .asksForRefund(let sale): try store.requestRefund(of: try identifier(of: sale))
        case .shares(let sale, let member): _ = try store.share(try identifier(of: sale), with: member)
        case .endsSharing(let sale): try store.revokeFamilySharing(of: try identifier(of: sale))
        case .joinsFamily(let customer, let other): try store.join(customer, familyOf: other)
        case .leavesFamily(let customer): try store.leaveFamily(customer)
        case .changesSeats(let customer, let total):
            try store.changeSeats(of: try subscription(of: customer), to: total)
        case .advances(let customer, let days):
            for _ in 1...days {
                _ = try store.advance(.seconds(86_400), of: customer)
                try await tell()
            }
        case .presents(let customer, let sale): try await presentInVain(try identifier(of: sale), for: customer)
        case .charges(let succeeds, let hasGracePeriod):
            _ = try store.update {
                $0.shouldEnterBillingRetryOnRenewal = !succeeds
                $0.isBillingGracePeriodEnabled = hasGracePeriod
            }
        case .sellsIn(let storefront): _ = try store.update { $0.storefront = storefront }
        case .raisesPrice(let customer, let price, let needsConsent):
            try store.requestPriceIncrease(
                of: try subscription(of: customer), to: price, needsConsent: needsConsent)
        case .refunds(let sale): try store.refund(try identifier(of: sale))
        case .declinesRefund(let sale): try store.declineRefund(of: try identifier(of: sale))
        case .reversesRefund(let sale): try store.reverseRefund(of: try identifier(of: sale))
        case .refundsSeats(let sale, let count):
            var values = TransactionAction.Parameters()
            values.refundedSeats = count
            try store.perform(.refund, values, on: try identifier(of: sale))
        case .asksForTest: _ = try store.writeOrThrow { try $0.requestTestNotification() }
        case .extends(let customer, let days):
            let original = try subscription(of: customer)
            _ = try store.writeOrThrow {
                try $0.extendSubscriptionRenewalDate(original, Self.decoded(Self.extensionBody(days: days)))
            }
        case .extendsAll(let product, let days):
            let body = Self.extensionBody(days: days, more: #","productId":"\#(Self.product(product))""#)
            _ = try store.writeOrThrow { try $0.extendRenewalDateForAllActiveSubscribers(Self.decoded(body)) }
        case .withdraws(let product): store = try fixture.storeWithdrawing(Self.product(product))
        case .spends(let customer, let amount):
            let spending = try await send(
                .post, "/v1/users/\(customer)/balances/seeds/spendings",
                body: #"{"amount":\#(amount),"reason":"A bed of roses"}"#, idempotencyKey: "spending", expecting: 201)
            names.add(try spending.decoded(SpendingResource.self).spendingId, as: "spending")
        case .grants(let customer, let item):
            let body =
                #"{"item":{"collection":"\#(item.collection)","number":\#(item.number)},"reason":"For the loss"}"#
            let grant = try await send(.post, "/v1/users/\(customer)/grants", body: body, expecting: 201)
            names.add(try grant.decoded(GrantResource.self).grantId, as: "grant")
        case .takesBack(let sale):
            let (customer, transaction) = (try customer(of: sale), try identifier(of: sale))
            try await send(
                .put, "/v1/users/\(customer)/transactions/\(transaction)/revocation", body: #"{"reason":"A fraud"}"#)
        case .claimsSeat(let customer): try await claimSeat(of: customer)
        case .unclaimsSeat(let customer, let claim): try await unclaimSeat(claim, of: customer)
        }
        try presentWhatIsQueued()
    }

    static func product(_ name: String) -> String { "garden.\(name)" }

    private static func extensionBody(days: Int, more: String = "") -> String {
        #"{"extendByDays":\#(days),"extendReasonCode":1,"requestIdentifier":"\#(UUID())"\#(more)}"#
    }

    private static func decoded<Value: Decodable>(_ json: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(json.utf8))
    }

    /// The original transaction of a customer's subscription.
    func subscription(of customer: String) throws -> String {
        try #require(try store.history(of: customer).last { $0.type == .autoRenewableSubscription })
            .originalTransactionIdentifier
    }

    private func customer(of sale: String) throws -> String { String(try #require(sale.split(separator: ".").first)) }

    private func identifier(of sale: String) throws -> String {
        let number = try #require(sale.split(separator: ".").last.flatMap { Int($0) })
        let history = try store.history(of: try customer(of: sale))
        try #require(history.indices.contains(number - 1), "\(sale) was not sold")
        return history[number - 1].transactionIdentifier
    }
}

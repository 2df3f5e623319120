import AppStore
import Catalog
import Foundation
import Proofs
import TestSupport
import Testing

/// A commitment to `basic.yearly`, bought on day 0, whose plan or price changes in the catalog.
@Suite struct CommitmentRuleTests {
    /// The terms of a garden whose text has been changed.
    private func terms(replacing text: String, with other: String) throws -> SubscriptionTerms {
        let garden = try String(contentsOf: TestGarden.file, encoding: .utf8)
        try #require(garden.contains(text))
        let changed = Array(garden.replacing(text, with: other).utf8)
        let configuration = try StoreKitConfiguration(json: changed, file: "f")
        return StoreSettings(configuration).terms(of: configuration, at: RuleFixture.now)
    }

    private func subscription() throws -> CustomerSubscription {
        let fixture = try RuleFixture()
        let product = try fixture.product("basic.yearly")
        return CustomerSubscription.first(
            product, try #require(product.subscription), billed: .monthly, offer: nil,
            originalTransactionIdentifier: "1", account: "alice", fixture.terms()
        ).0
    }

    /// The charges and the notifications of the next 12 due dates.
    private func year(_ terms: SubscriptionTerms) throws -> [String] {
        var subscription = try subscription()
        return (0..<12).flatMap { _ in subscription.becomeDue(terms) }.map { effect in
            switch effect {
            case .charge(let charge):
                "\(charge.price.milliunits) \(charge.commitment.map { "\($0.billingPeriodNumber) \($0.price.milliunits)" } ?? "-")"
            case .notify(let type, let subtype): type.rawValue + (subtype.map { " \($0.rawValue)" } ?? "")
            case .addSeats, .markUpgraded, .setExpiresDate, .refundRest: "another effect"
            }
        }
    }

    private static let months = (2...12).flatMap { ["4990 \($0) 59880", "DID_RENEW"] }

    @Test func `a commitment whose plan is withdrawn ends after its last month`() throws {
        let terms = try terms(replacing: #""billingPlanType" : "MONTHLY""#, with: #""billingPlanType" : "NONE""#)
        #expect(try year(terms) == Self.months + ["EXPIRED PRODUCT_NOT_FOR_SALE"])
    }

    @Test func `another price in the catalog counts from the next commitment on`() throws {
        let terms = try terms(
            replacing: #""commitmentDisplayPrice" : "59.88","# + "\n              " + #""displayPrice" : "4.99""#,
            with: #""commitmentDisplayPrice" : "71.00", "displayPrice" : "5.99""#)
        #expect(try year(terms) == Self.months + ["5990 1 71000", "DID_RENEW"])
    }
}

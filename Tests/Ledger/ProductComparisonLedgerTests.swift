import Catalog
import Entitlements
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing
import Vocabulary

/// The comparison of a catalog with the sales in the ledger, in either database.
@Suite struct ProductComparisonLedgerTests: LedgerSuite {
    let fixture: LedgerFixture
    private let catalog: Catalog

    init() throws {
        fixture = try LedgerFixture()
        catalog = try TestGarden(bundleIdentifier: "com.example.app").catalog
    }

    private func compare(
        _ origins: Set<Origin> = [.localSandbox],
        after last: String? = nil,
        limit: Int = 100
    ) async throws -> [ComparedProduct] {
        let comparison = ProductComparison(of: catalog, soldBy: origins, in: 0, until: Self.now)
        return try await ledger.read(.longSnapshot) {
            try $0.comparedProducts(by: comparison, after: last, limit: limit)
        }
    }

    private func price(_ milliunits: Int64) -> TransactionFacts {
        TransactionFacts([
            .price: .integer(milliunits), .currency: .text("USD"), .storefront: .text("USA"),
            .type: .text(ProductType.nonConsumable.rawValue),
        ])
    }

    @Test func `redeemed, unclaimed and refused purchases are compared with the catalog`() async throws {
        let seeds = claim(
            "1", product: "garden.seeds", item: nil, credit: Credit(balance: "seeds", amount: 10), facts: price(990))
        let gate = claim("2", product: "garden.gate", facts: price(24_990))
        #expect(try await redeem(seeds, gate, for: alice) == [.granted, .granted])
        let rake = claim("3", product: "garden.rake", item: nil, facts: price(500))
        #expect(try await notify("n1", rake) == .parked)
        #expect(
            try await redeem(claim("4", product: "garden.hoe", item: nil), for: alice, at: Self.later(5)) == [
                .productUnknown
            ])
        let products = try await compare()
        #expect(
            products.map { "\($0.productIdentifier) \($0.findings.map(\.rawValue).joined(separator: " "))" } == [
                "garden.basic.monthly notSold", "garden.basic.yearly notSold", "garden.gate priceDiffers",
                "garden.hoe unknown", "garden.premium.monthly notSold", "garden.rake unknown", "garden.season notSold",
                "garden.seeds ",
            ])
        let named = Dictionary(uniqueKeysWithValues: products.map { ($0.productIdentifier, $0) })
        let sold = try #require(named["garden.gate"])
        #expect(sold.catalogPrice?.price == Price(milliunits: 19_990, currency: "USD"))
        #expect(sold.prices.map(\.price) == [Price(milliunits: 24_990, currency: "USD")])
        #expect(sold.last?.transactionIdentifier == "2" && sold.app == "com.example.app")
        let refused = try #require(named["garden.hoe"])
        #expect(refused.last == ProductSale("4", at: Self.later(5)) && refused.catalogPrice == nil)
        #expect(named["garden.rake"]?.prices.map(\.price.milliunits) == [500])

        // The pages have each product once.
        var (paged, last): ([ComparedProduct], String?) = ([], nil)
        repeat {
            let page = try await compare(after: last, limit: 3)
            paged += page
            last = page.count == 3 ? page.last?.productIdentifier : nil
        } while last != nil
        #expect(paged == products)
        // Sales of another environment do not count.
        let production = try await compare([.localProduction])
        #expect(production.map(\.findings) == Array(repeating: [.notSold], count: 6))
    }

    @Test func `a sale is not missed because others hide it`() async throws {
        let claims = (0..<200).map { claim("\($0)", original: "0", product: "garden.gate") }
        _ = try await ledger.write { try $0.redeem(claims, for: alice, at: Self.later(10)) }
        // Only the latest 200 transactions are read, so an earlier one of the other environment stays unknown.
        let products = try await compare([.localProduction])
        #expect(products.first { $0.productIdentifier == "garden.gate" }?.findings == [])
        #expect(products.first { $0.productIdentifier == "garden.seeds" }?.findings == [.notSold])
    }
}

import AppStore
import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing

/// The route that compares the catalog with the sales.
@Suite struct ComparisonRoutesTests {
    private struct Compared: Decodable, Listed {
        static let listName = "products"

        struct CatalogPrice: Decodable, Equatable {
            let storefront: String
            let price: Int64
            let currency: String
        }

        struct Former: Decodable {
            let price: Int64
        }

        struct SoldPrice: Decodable {
            let storefront: String
            let price: Int64
            let currency: String
            let soldAt: String
            let former: Former?
        }

        let productId: String
        let bundleId: String
        let catalogPrice: CatalogPrice?
        let isWithdrawn: Bool
        let lastSoldAt: String?
        let lastTransactionId: String?
        let prices: [SoldPrice]
        let findings: [String]
    }

    private let fixture: ServiceFixture

    init() async throws {
        fixture = try await ServiceFixture()
    }

    private func compared(_ query: String = "") async throws -> [Compared] {
        let answer = try await fixture.send(
            .get, "/v1/catalog/comparison?environment=sandbox&pageSize=100\(query)")
        #expect(answer.status == 200)
        return try answer.decoded(List<Compared>.self).elements
    }

    private func redeem(_ product: String) async throws -> String {
        let bought = try fixture.buy(product)
        let signed = try fixture.shop.store.signedTransaction(bought.identifier)
        let answer = try await fixture.send(
            .post, "/v1/users/alice/transactions", body: "{\"signedTransaction\":\"\(signed)\"}")
        #expect(answer.status == 200)
        return try #require(bought.purchase).transactionIdentifier
    }

    @Test func `the store's sales are compared with the administered catalog`() async throws {
        let transaction = try await redeem("sprout1")
        let same = try #require(try await compared().first { $0.productId == "com.memolease.sesac1.sprout1" })
        #expect(same.findings == [] && same.lastTransactionId == transaction && !same.isWithdrawn)
        #expect(same.catalogPrice == .init(storefront: "KOR", price: 1_200_000, currency: "KRW"))
        #expect(same.prices.map(\.price) == [1_200_000])
        let definition = #"{"type":"NonConsumable","displayPrice":"1500","collection":"sprout","number":1}"#
        let changed = try await fixture.send(
            .put, "/v1/catalog/products/com.memolease.sesac1.sprout1", body: definition)
        #expect(changed.status == 200)
        let products = try await compared()
        #expect(products.count == fixture.shop.catalog.products.count)
        #expect(products.map(\.productId) == products.map(\.productId).sorted())
        for product in products {
            let isSold = product.productId == "com.memolease.sesac1.sprout1"
            #expect(product.findings == [isSold ? "priceDiffers" : "notSold"], "\(product.productId)")
            #expect(product.bundleId == fixture.shop.catalog.bundleIdentifier)
        }
        // A product that is not for sale need not be sold.
        let withdrawal = try await fixture.send(
            .put, "/v1/catalog/products/com.memolease.sesac1.sprout2/withdrawal")
        #expect(withdrawal.status == 200)
        let withdrawn = try await compared().first { $0.productId == "com.memolease.sesac1.sprout2" }
        #expect(withdrawn?.findings == [] && withdrawn?.isWithdrawn == true)
        // Nobody has bought anything for real money.
        let production = try await fixture.send(.get, "/v1/catalog/comparison?pageSize=100")
            .decoded(List<Compared>.self).elements
        #expect(production.allSatisfy { $0.lastSoldAt == nil })
    }

    @Test func `a product has to be sold in the days`() async throws {
        _ = try await redeem("sprout1")
        fixture.shop.clock.advance(milliseconds: 40 * 86_400_000)
        func findings(_ query: String) async throws -> [String]? {
            try await compared(query).first { $0.productId == "com.memolease.sesac1.sprout1" }?.findings
        }
        #expect(try await findings("") == [])
        #expect(try await findings("&days=30") == ["notSold"])
        for days in ["0", "3651", "x"] {
            #expect(try await fixture.send(.get, "/v1/catalog/comparison?days=\(days)").code == "parameterInvalid")
        }
    }

    @Test func `only a key for figures reads it`() async throws {
        let key = try await fixture.keys.make(name: "shop", scopes: [.read]).key
        #expect(try await fixture.send(.get, "/v1/catalog/comparison", key: key).code == "scopeMissing")
    }
}

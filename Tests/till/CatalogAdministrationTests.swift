import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

/// Changes of the catalog while the real binary runs. A restart keeps them.
@Suite struct CatalogAdministrationTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    /// A product as administrators see it.
    private struct CatalogProduct: Decodable {
        let isWithdrawn: Bool
        let picture: String?
    }

    private struct CatalogChange: Decodable, Listed {
        static let listName = "changes"

        let kind: String
    }

    private let moon = "com.memolease.sesac1.sprout9"

    @Test func `a product is created, sold, pictured and withdrawn, and a restart keeps all of it`() async throws {
        let made = try await till.run(
            "keys", "make", "desk", "--scope", "catalog", "--scope", "read", "--scope", "redeem")
        let key = made.output.trimmingCharacters(in: .newlines)
        let chain = try TestChains.ellipticCurve.get()
        try Data(chain.root.certificate.der).write(to: till.folder.file("root.cer"))
        #expect(try await till.run("trust", "add", till.folder.file("root.cer").path).status == 0)
        let first = try await ServeProcess(till, ["--catalog-administration"])
        // A service on the same ledger without the setting applies the changes, and can make none.
        let second = try await ServeProcess(till)
        let catalog = "/v1/catalog/products/\(moon)"
        let put = ["--request", "PUT"]
        #expect(try await second.curl(catalog, key: key).code == "featureOff")
        let payload = TestProofs.transactionPayload(productId: moon)
        let proof = String(decoding: try TestProofs.transaction(payload, chain: chain), as: UTF8.self)
        func redeem(at server: ServeProcess) async throws -> ServeProcess.Answer {
            try await server.curl(
                "/v1/users/alice/transactions", key: key, body: "{\"signedTransaction\":\"\(proof)\"}")
        }
        #expect(try await redeem(at: second).code == "productUnknown")

        let definition = #"{"type":"NonConsumable","displayPrice":"2500","collection":"sprout","number":9}"#
        #expect(try await first.curl(catalog, key: key, body: definition, options: put).status == 201)
        await expectEventually { (try? await second.curl("/v1/products/\(moon)", key: key).status) == 200 }
        #expect(try await redeem(at: second).status == 200)
        let file = till.folder.file("moon.svg")
        try Data("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8).write(to: file)
        let pictured = try await first.curl(
            catalog + "/picture", key: key, options: put + ["--form", "picture=@\(file.path)"])
        #expect(pictured.status == 200)
        let address = try #require(try pictured.decoded(CatalogProduct.self).picture)
        #expect(try await first.curl(address).body == Data(contentsOf: file))
        #expect(try await first.curl(catalog + "/withdrawal", key: key, options: put).status == 200)
        first.kill()

        let third = try await ServeProcess(till, ["--catalog-administration"])
        let shown = try await third.curl(catalog, key: key).decoded(CatalogProduct.self)
        #expect(shown.isWithdrawn)
        #expect(shown.picture == address)
        let owned = try await third.curl("/v1/users/alice/items", key: key).decoded(List<OwnedItemResource>.self)
        #expect(owned.elements.contains { $0.item.number == 9 })
        let list = try await third.curl("/v1/catalog/changes", key: key).decoded(List<CatalogChange>.self)
        #expect(list.elements.map(\.kind) == ["withdrawn", "pictured", "defined"])
        // The command line's service applies the changes, too, and recognizes the proof.
        let redeemed = till.folder.file("moon.jws")
        try Data(proof.utf8).write(to: redeemed)
        let again = try await till.run("receipt", "redeem", redeemed.path, "--user", "alice")
        #expect(again.status == 0)
        #expect(await third.end(SIGTERM) == 0)
        #expect(await second.end(SIGTERM) == 0)
    }
}

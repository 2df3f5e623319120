import Foundation
import TestSupport
import Testing

/// `till products compare`.
@Suite struct ProductsCompareTests {
    let till: TillProcess

    init() throws {
        till = try TillProcess()
    }

    @Test func `the catalog is compared with the sales of the ledger, and of a service`() async throws {
        // An app receipt has no price.
        try await till.run("buy", "com.memolease.sesac1.sprout1", "--user", "alice", "--proof", "transaction")
        // The team's catalog has another price, and lacks a product.
        let catalog = till.folder.folder("catalog")
        try FileManager.default.copyItem(at: Project.products, to: catalog)
        let file = catalog.appending(path: "Till.storekit")
        let text = try String(contentsOf: file, encoding: .utf8)
        let price = try #require(text.range(of: "\"1200\""))
        try Data(text.replacingCharacters(in: price, with: "\"1500\"").utf8).write(to: file)
        let arguments = ["products", "compare", "--environment", "sandbox"]
        let result = try await till.run(arguments: arguments + ["--catalog", "catalog"])
        #expect(result.status == 0, "\(result.error)")
        let lines = result.output.split(separator: "\n").map { $0.replacing(/\ {2,}/, with: "|") }
        #expect(lines.first == "PRODUCT|FINDING|CATALOG|SOLD FOR|BEFORE|LAST SOLD")
        let differing = try #require(lines.first { $0.contains("sprout1|") })
        #expect(
            differing.hasPrefix("com.memolease.sesac1.sprout1|price differs|KRW 1,500 (KOR)|KRW 1,200 (KOR)|-|"))
        #expect(lines.contains { $0.hasPrefix("com.memolease.sesac1.sprout2|not sold|") })

        let key = try await till.run("keys", "make", "figures", "--scope", "figures").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let service = try await ServeProcess(till)
        let served = try await till.run(
            arguments: arguments + ["--server", service.url.absoluteString, "--json"],
            environment: ["TILL_API_KEY": key])
        #expect(served.status == 0, "\(served.error)")
        let local = try await till.run(arguments: arguments + ["--json"])
        #expect(served.output == local.output)
        #expect(!served.output.contains("\"com.memolease.sesac1.sprout1\""))
        #expect(await service.end(SIGTERM) == 0)
    }

    @Test func `the list of products is the command without another word`() async throws {
        let listed = try await till.run("products", "list", "--json")
        #expect(listed.status == 0)
        #expect(try await till.run("products", "--json").output == listed.output)
    }

    @Test(arguments: [
        ["products", "compare", "--days", "0"], ["products", "compare", "--days", "3651"],
        ["products", "compare", "--environment", "test"], ["products", "compare", "--bundle-id", "a"],
        ["products", "compered"],
    ])
    func `wrong usage ends with 64`(arguments: [String]) async throws {
        #expect(try await till.run(arguments: arguments).status == 64)
    }
}

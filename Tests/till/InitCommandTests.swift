import Catalog
import Foundation
import HTTPSupport
import Proofs
import TestSupport
import Testing
import Vocabulary

@Suite struct InitCommandTests {
    private let till: TillProcess

    init() throws {
        till = try TillProcess(hasKeys: false)
    }

    private func initialize(_ folder: String) async throws -> TillProcess.Result {
        try await till.run(
            "init", "--storekit", TestGarden.file.path, "--bundle-id", TestGarden.bundleIdentifier, folder)
    }

    @Test func `a catalog is created, explained and sold from`() async throws {
        let created = try await initialize("shops/Garden")
        #expect(created.status == 0, "\(created.error)")
        for part in [
            "garden.premium.monthly  plus 1, while it is paid for", "garden.seeds            1 of the balance seeds",
            "Set the amount of garden.seeds", "Set the duration of garden.season",
            "till products --catalog shops/Garden",
        ] {
            #expect(created.output.contains(part), "\(created.output)")
        }
        let written = try Data(contentsOf: till.folder.file("shops/Garden/Till.storekit"))
        #expect(try written == Data(contentsOf: TestGarden.file))
        let listed = try await till.run("products", "--catalog", "shops/Garden", "--json").decoded(
            List<ProductResource>.self)
        #expect(listed.elements.count == 6)
        #expect(created.output.contains("Created shops/Garden/Offerings.json"))
        let catalog = try Catalog(folder: till.folder.folder("shops/Garden"))
        #expect(catalog.rights.map(\.name) == ["plus"])
        #expect(catalog.currentOffering?.packages.count == 6)
    }

    @Test func `without a configuration, the catalog of the demonstration is created`() async throws {
        let created = try await till.run("init", "Demo")
        #expect(created.status == 0 && created.output.contains("till products --catalog Demo"), "\(created)")
        let catalog = try Catalog(folder: till.folder.folder("Demo"))
        #expect(catalog.products.contains { $0.type == .autoRenewableSubscription })
        let again = try await till.run("init", "Demo")
        #expect(again.status == 1 && again.error.contains("already exists"), "\(again)")
    }

    @Test(arguments: [["--storekit", TestGarden.file.path], ["--bundle-id", TestGarden.bundleIdentifier]])
    func `a configuration without its app creates nothing`(arguments: [String]) async throws {
        let refused = try await till.run(arguments: ["init", "Garden"] + arguments)
        #expect(refused.status == 64)
        #expect(refused.error.contains("Name both --storekit and --bundle-id, or neither."), "\(refused)")
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("Garden").path))
    }

    @Test(arguments: [Catalog.configurationFile, Catalog.itemsFile, Catalog.offeringsFile])
    func `no file is overwritten`(name: String) async throws {
        let folder = till.folder.folder("Garden")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.appending(path: name))
        let refused = try await initialize("Garden")
        #expect(refused.status == 1)
        #expect(refused.error.contains("\(name)\" already exists"), "\(refused.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [name])
        #expect(try String(contentsOf: folder.appending(path: name), encoding: .utf8) == "mine")
    }

    @Test(arguments: ["", "com.example garden", "com..garden", ".garden", "https://garden.example", "정원"])
    func `a wrong bundle identifier creates nothing`(identifier: String) async throws {
        let refused = try await till.run(
            "init", "--storekit", TestGarden.file.path, "--bundle-id", identifier, "Garden")
        #expect(refused.status == 64)
        #expect(refused.error.contains("\"\(identifier)\" is not a bundle identifier."), "\(refused.error)")
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("Garden").path))
    }

    @Test func `a file that is no configuration creates nothing`() async throws {
        try Data("{}".utf8).write(to: till.folder.file("empty.storekit"))
        let refused = try await till.run("init", "--storekit", "empty.storekit", "--bundle-id", "a", "Garden")
        #expect(refused.status == 1)
        #expect(refused.error.contains("empty.storekit"))
        #expect(!FileManager.default.fileExists(atPath: till.folder.folder("Garden").path))
    }

    @Test func `the documented example loads, and has every key`() throws {
        let page = try Project.text("Documentation/Catalog.md")
        for (path, text) in DocumentedSession(page: page).files {
            try Data(text.utf8).write(to: till.folder.file(path))
        }
        let catalog = try Catalog(folder: till.folder.url)
        #expect(Set(catalog.products.map(\.type)) == Set(ProductType.allCases))
        #expect(catalog.ownedByEverybody == [Item(collection: "bed", number: 0)])
        #expect(catalog.balances == ["seeds"])
        #expect(catalog.rights.map(\.name) == ["premium", "tools"])
        #expect(catalog.currentOffering?.packages.map(\.identifier) == ["$rc_monthly", "$rc_annual", "gate"])
        let seeds = RefundFacts(product: "com.example.garden.seeds10", consumed: 50_000)
        let rules = try #require(catalog.refundRules)
        #expect(rules.answer(to: seeds, otherwise: nil).text == #"GRANT_PRORATED by rule "seeds""#)
        let retention = try #require(catalog.retentionRules)
        let yearly = RetentionFacts(
            product: "com.example.garden.plus.yearly", locale: "ko-KR", ownership: .init(isRedeemed: true))
        #expect(retention.decision(about: yearly, in: catalog).rule == "shorter")
        let names = [Catalog.itemsFile, Catalog.offeringsFile, Catalog.refundRulesFile, Catalog.retentionRulesFile]
        let files = try names.map {
            try String(contentsOf: till.folder.file($0), encoding: .utf8)
        }
        let used = Set(files.joined().matches(of: /"([A-Za-z]+)":/).map { String($0.1) })
        let keys = Set(page.matches(of: /\n\| `([A-Za-z]+)` \|/).map { String($0.1) })
        #expect(used == keys)
    }
}

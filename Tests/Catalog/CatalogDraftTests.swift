import Catalog
import Foundation
import Proofs
import TestSupport
import Testing
import Vocabulary

@Suite struct CatalogDraftTests {
    private func draft(_ products: [String], groups: String = "") throws -> CatalogDraft {
        let entries = products.map { product in
            let parts = product.split(separator: " ")
            return """
                {"productID": "\(parts[1])", "type": "\(parts[0])", "displayPrice": "1.99", "familyShareable": false,
                "referenceName": "\(parts.dropFirst(2).joined(separator: " "))", "localizations": []}
                """
        }
        let text = "{\"products\": [\(entries.joined(separator: ","))], \"subscriptionGroups\": [\(groups)]}"
        return try CatalogDraft(
            try StoreKitConfiguration(json: [UInt8](text.utf8), file: "a.storekit"), bundleIdentifier: "com.example.a")
    }

    @Test(
        arguments: [
            ("Consumable com.example.coins100 Coins", .credit(Credit(balance: "coins", amount: 100))),
            ("Consumable com.example.coins_100 Coins", .credit(Credit(balance: "coins_", amount: 100))),
            ("Consumable com.example.coins.100 Coins", .credit(Credit(balance: "coins", amount: 100))),
            ("Consumable com.example.100coins Coins", .credit(Credit(balance: "coins", amount: 100))),
            ("Consumable com.example.seeds A pack of 25", .credit(Credit(balance: "seeds", amount: 25))),
            ("Consumable com.example.seeds Seeds", .credit(Credit(balance: "seeds", amount: 1))),
            ("Consumable com.example.seeds0 Seeds", .credit(Credit(balance: "seeds", amount: 1))),
            ("Consumable com.example.seeds99999999999999999999 Seeds", .credit(Credit(balance: "seeds", amount: 1))),
            ("NonConsumable com.example.sprout2 Sprout", .item(Item(collection: "sprout", number: 2))),
            ("NonConsumable com.example.Gate Gate", .item(Item(collection: "gate", number: 1))),
            ("NonConsumable 42 Answer", .item(Item(collection: "item", number: 42))),
        ] as [(String, Benefit)])
    func `a product is mapped by its name`(product: String, benefit: Benefit) throws {
        #expect(try draft([product]).entries.map(\.benefit) == [benefit])
    }

    @Test(
        arguments: [
            ("Consumable com.example.coins 500 coins", [500], false, false),
            ("Consumable com.example.coins.large 1,000 Coins", [1000], false, false),
            ("Consumable com.example.coins.large 12.000 Coins", [12_000], false, false),
            ("Consumable com.example.coins500 500 coins", [500], false, false),
            // A tier of the identifier is no amount.
            ("Consumable com.example.coins.tier2 500 coins", [500], false, true),
            ("Consumable com.example.coins 500 coins and 50 more", [500], false, true),
            ("Consumable com.example.coins A chest of coins", [1], true, false),
        ] as [(String, [Int], Bool, Bool)])
    func `the amount of a consumable is read from its name, or flagged`(
        product: String, amounts: [Int], isAssumed: Bool, isAmbiguous: Bool
    ) throws {
        let entries = try draft([product]).entries
        #expect(
            entries.compactMap { if case .credit(let credit) = $0.benefit { credit.amount } else { nil } } == amounts)
        #expect(entries.map(\.isAmountAssumed) == [isAssumed] && entries.map(\.isAmountAmbiguous) == [isAmbiguous])
    }

    @Test func `no item is granted twice`() throws {
        let draft = try draft(["NonConsumable a.gate Gate", "NonConsumable b.gate Gate", "NonConsumable c.gate2 Gate"])
        #expect(draft.entries.compactMap(\.benefit.item?.number) == [1, 2, 3])
    }

    @Test func `groups of one name and products of a group's name stay apart`() throws {
        let groups = ["1", "2"].map { group in
            """
            {"id": "\(group)", "name": "Gate", "subscriptions": [{"productID": "g\(group)", "groupNumber": \(group),
            "type": "RecurringSubscription", "displayPrice": "1.99", "familyShareable": false, "referenceName": "x",
            "localizations": [], "recurringSubscriptionPeriod": "P1M"}]}
            """
        }
        let draft = try draft(["NonConsumable a.gate Gate"], groups: groups.joined(separator: ","))
        #expect(
            draft.entries.compactMap(\.benefit.item) == [
                Item(collection: "gate-product", number: 1), Item(collection: "gate", number: 1),
                Item(collection: "gate-2", number: 2),
            ])
    }

    @Test func `the draft of every kind of product loads as a catalog`() throws {
        let folder = try TemporaryFolder()
        let draft = try CatalogDraft(
            try StoreKitConfiguration(file: TestGarden.file.path), bundleIdentifier: TestGarden.bundleIdentifier)
        try FileManager.default.copyItem(at: TestGarden.file, to: folder.file(Catalog.configurationFile))
        try Data(draft.itemsText.utf8).write(to: folder.file(Catalog.itemsFile))
        let catalog = try Catalog(folder: folder.url)
        #expect(catalog.bundleIdentifier == TestGarden.bundleIdentifier)
        #expect(catalog.products.count == draft.entries.count)
        #expect(catalog.benefit(of: "garden.premium.monthly")?.item == Item(collection: "plus", number: 1))
        #expect(draft.entries.filter(\.isAmountAssumed).map(\.product.productIdentifier) == ["garden.seeds"])
    }
}

import Foundation
import Testing

extension HostileConsole {
    private static let form = "/console/new-product"

    /// Changes a product of the files, and adds one of each other kind.
    mutating func fillProducts() async throws {
        let short = HostileTexts.Limit.bytes(300)
        let page = "/console/products/\(Self.sprout)1"
        var fields = ProductForm.fields(of: try await browser.get(page + "/edit"))
        fields["referenceName"] = shownText("reference name", .line, short)
        for index in 0..<2 {
            fields["displayName-\(index)"] = shownText("name of a bought product", .line, short)
            fields["description-\(index)"] = shownText("description of a bought product", .lines, short)
        }
        try await send(page + "/definition", fields, from: page)
        try await send(page + "/preview", fields, from: page, expecting: 200)
        let longest = HostileTexts.Limit.bytes(4096)
        let seeds = [
            "type": "Consumable", "productID": "text.seeds", "displayPrice": "1", "balance": "seeds", "amount": "5",
            "referenceName": shownText("reference name of seeds", .line, short), "locale-0": "ko",
            "displayName-0": shownText("name of seeds", .line, longest), "locale-1": "ar",
            "displayName-1": shownText("Arabic name of seeds", .line, short),
            "description-1": shownText("description of seeds", .lines, longest),
        ]
        let gate = [
            "type": "Non-Consumable", "productID": "text.gate", "displayPrice": "1", "number": "9",
            "collection": shownText("collection", .line, .bytes(64)),
            "locale-0": shownText("locale", .line, .bytes(256)),
            "displayName-0": "Gate", "description-0": "",
        ]
        let month = [
            "type": "Auto-Renewable Subscription", "productID": "text.month", "displayPrice": "1",
            "collection": "plus", "number": "1", "subscriptionGroupID": "G", "groupNumber": "1",
            "subscriptionGroupName": shownText("name of a group", .line, short), "recurringSubscriptionPeriod": "P1M",
        ]
        for product in [seeds, gate, month] {
            let all = product.merging(["others": "{}", "version": ""]) { $1 }
            try await send(Self.form + "/preview", all, from: Self.form, expecting: 200)
            try await send(Self.form, all, from: Self.form)
            let page = "/console/products/\(product["productID"] ?? "")"
            paths += [page, page + "/edit", page + "/history"]
        }
        paths += [page, page + "/edit", page + "/history", "/console/customers?product=text.seeds"]
        paths += ["Consumable", "Non-Renewing%20Subscription"].map { "\(Self.form)?type=\($0)" }
    }

    /// Sends texts to fields that refuse them.
    mutating func fillRefusedProducts() async throws {
        let limit = HostileTexts.Limit.bytes(256)
        // The form shows all fields again, with a problem at the first wrong one.
        let locale = shownText("refused locale", .line, limit)
        let right = [
            "type": "Non-Consumable", "productID": "text.wrong", "displayPrice": "1", "collection": "wrong",
            "number": "1", "locale-0": locale, "displayName-0": shownText("name in a refused form", .line, limit),
            "description-0": shownText("description in a refused form", .lines, limit), "others": "{}", "version": "",
        ]
        let key = HostileText.inJSON(texts.next("refused key", .line, limit).text)
        let changes = [
            ["productID": shownText("refused identifier", .line, limit)],
            ["displayPrice": shownText("refused price", .line, limit)],
            ["number": shownText("refused number", .line, limit)],
            [
                "collection": shownText(
                    "refused collection", .line, limit, startingWith: String(repeating: "c", count: 65))
            ],
            ["locale-1": locale, "displayName-1": "b", "description-1": ""], ["others": "{\"\(key)\": 1}"],
            ["others": "{\"\(key)\": 1, \"\(key)\": 2}"],
            ["others": shownText("refused JSON", .lines, limit)],
        ]
        for change in changes {
            let fields = right.merging(change) { $1 }
            try await send(Self.form, fields, from: Self.form, expecting: 422)
            try await send(Self.form + "/preview", fields, from: Self.form, expecting: 200, isRefused: true)
        }
    }
}

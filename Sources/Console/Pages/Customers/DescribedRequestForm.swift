import Entitlements
import HTTPSupport
import Proofs

/// The fields of Apple's requests about purchases that a server has described (Advanced Commerce API). They have Apple's names, and the App
/// Store judges their values. Members that no form has, such as a storefront, are for back ends and the command.
enum DescribedRequestForm {
    /// The object that has a member.
    private enum Part: String {
        case request, descriptors, items
    }

    private struct Member: Sendable {
        enum Value: Sendable {
            /// The SKU of an item, which the page knows.
            case sku
            case text(isRequired: Bool)
            /// An amount of money.
            case amount
            case flag
            /// One of Apple's words. Nothing is asked about an item with the empty choice.
            case choice([(value: String, title: Phrase)], empty: Phrase? = nil)
        }

        /// Apple's name.
        let name: String
        let title: Phrase
        let value: Value

        init(_ name: String, _ title: Phrase, _ value: Value) {
            (self.name, self.title, self.value) = (name, title, value)
        }

        /// True if its value alone asks for something.
        private var isAsking: Bool {
            switch value {
            case .sku, .flag: false
            case .text, .amount: true
            case .choice(_, let empty): empty != nil
            }
        }

        private func amount(_ name: String) -> Field<Int64?> {
            Field.text(name, title, inputMode: "decimal").optional("an amount such as 5.99") {
                Price(majorUnits: $0, currency: "")?.milliunits
            }
        }

        func control(_ name: String, of item: DescribedItem?) -> HTML {
            switch value {
            case .sku: hidden(name, item?.sku)
            case .text(let isRequired): Field.text(name, title, isRequired: isRequired).html()
            case .amount: amount(name).html()
            case .flag: Field.checkbox(name, title).html()
            case .choice(let choices, let empty): Field.choice(name, title, empty: empty, choices).html()
            }
        }

        /// - Returns: Nil for a member that the form leaves out.
        private func read(_ name: String, in form: ConsoleForm) throws(Problem) -> JSONValue? {
            switch value {
            case .sku, .text(isRequired: true): return .string(try form.requiredText(name))
            case .text:
                let text = try form.text(name)
                return text.isEmpty ? nil : .string(text)
            case .amount: return try form[amount(name)].map { .integer($0) }
            case .flag: return .bool(form.isChecked(name))
            case .choice(let choices, let empty):
                let word = try form.text(name)
                if word.isEmpty, empty != nil { return nil }
                guard choices.contains(where: { $0.value.hasSameBytes(as: word) }) else {
                    throw ConsoleForm.invalid(name, "a choice of the page")
                }
                return .string(word)
            }
        }

        /// Adds the member to its object.
        ///
        /// - Returns: True if it asks for something.
        func add(to object: inout JSONObject, _ name: String, in form: ConsoleForm) throws(Problem) -> Bool {
            guard let value = try read(name, in: form) else { return false }
            return object.add(self.name, value) && isAsking
        }
    }

    private static func parts(of kind: StoreAction.Kind) -> [(part: Part, members: [Member])] {
        switch kind {
        case .cancel, .extend, .extendAll: []
        // developer.apple.com/documentation/advancedcommerceapi/requestrefundrequest
        case .refund:
            [
                (
                    .items,
                    [
                        Member("SKU", "Item", .sku),
                        Member(
                            "refundType", "Pay back",
                            .choice(shares + [("CUSTOM", "The amount below")], empty: "Nothing")),
                        Member("refundAmount", "Amount to pay back", .amount), reason,
                        Member("revoke", "Take the item, too", .flag),
                    ]
                ), (.request, [isAskingBack]),
            ]
        // …/subscriptionrevokerequest
        case .revoke: [(.request, [Member("refundType", "Pay back", .choice(shares)), reason, isAskingBack])]
        // …/subscriptionpricechangerequest
        case .changePrice: [(.items, [Member("SKU", "Item", .sku), Member("price", "New price", .amount)])]
        // …/subscriptionchangemetadatarequest
        case .changeMetadata:
            [
                (.descriptors, texts(isRequired: false) + [effective]),
                (.items, [Member("currentSKU", "Item", .sku)] + texts(isRequired: false) + [effective]),
            ]
        // …/subscriptionmigraterequest
        case .migrate:
            [
                (
                    .request,
                    [
                        Member("targetProductId", "Product of the Advanced Commerce API", .text(isRequired: true)),
                        Member("taxCode", "Tax code", .text(isRequired: true)),
                    ]
                ), (.descriptors, texts(isRequired: true)),
                (.items, [Member("SKU", "SKU of the item", .text(isRequired: true))] + texts(isRequired: true)),
            ]
        }
    }

    private static let shares: [(value: String, title: Phrase)] = [
        ("FULL", "The whole price"), ("PRORATED", "The part for the time left"),
    ]
    // …/refundreason, without the reasons of a change of items and of a test.
    private static let reason = Member(
        "refundReason", "Cause for Apple",
        .choice([
            ("UNINTENDED_PURCHASE", "Unintended purchase"), ("FULFILLMENT_ISSUE", "Not delivered as promised"),
            ("UNSATISFIED_WITH_PURCHASE", "Not satisfied with the purchase"), ("LEGAL", "Legal reasons"),
            ("OTHER", "Other reason"),
        ]))
    // …/refundriskingpreference: with true, the App Store asks for consumption data before it decides.
    private static let isAskingBack = Member(
        "refundRiskingPreference", "Let Apple ask for the consumption before it decides", .flag)
    private static let effective = Member(
        "effective", "Takes effect",
        .choice([("IMMEDIATELY", "At once"), ("NEXT_BILL_CYCLE", "From the next renewal on")]))

    private static func texts(isRequired: Bool) -> [Member] {
        [
            Member("displayName", "Display name", .text(isRequired: isRequired)),
            Member("description", "Description", .text(isRequired: isRequired)),
        ]
    }

    /// The name of a member in the form. A page has the forms of several actions, each with several items.
    private static func name(_ kind: StoreAction.Kind, _ place: String, _ member: Member) -> String {
        "\(kind.rawValue)-\(place)-\(member.name)"
    }

    @HTMLBuilder static func controls(for kind: StoreAction.Kind, of items: [DescribedItem]) -> HTML {
        for (part, members) in parts(of: kind) {
            switch part {
            case .request: for member in members { member.control(name(kind, part.rawValue, member), of: nil) }
            case .descriptors:
                fieldset {
                    legend { "Subscription" }
                    for member in members { member.control(name(kind, part.rawValue, member), of: nil) }
                }
            case .items:
                // The page does not know the item of a migrated subscription.
                let shown = kind == .migrate ? [nil] : items.map(Optional.some)
                for (index, item) in shown.enumerated() {
                    fieldset {
                        legend {
                            if let item {
                                spaced(data(item.displayName), Shown.identifier(item.sku), Shown.money(item.price))
                            } else {
                                Phrase("Item")
                            }
                        }
                        for member in members { member.control(name(kind, String(index), member), of: item) }
                    }
                }
            }
        }
    }

    /// Apple's request as the form states it. Objects with nothing but flags and choices are left out.
    ///
    /// - Throws: `Problem`, `fieldInvalid`.
    static func request(for kind: StoreAction.Kind, in form: ConsoleForm) throws(Problem) -> JSONObject {
        var request = JSONObject()
        let parts = parts(of: kind)
        for (part, members) in parts {
            func object(_ place: String, _ object: inout JSONObject) throws(Problem) -> Bool {
                var isAsking = false
                for member in members where try member.add(to: &object, name(kind, place, member), in: form) {
                    isAsking = true
                }
                return isAsking
            }
            switch part {
            case .request: _ = try object(part.rawValue, &request)
            case .descriptors:
                var descriptors = JSONObject()
                if try object(part.rawValue, &descriptors) { _ = request.add(part.rawValue, .object(descriptors)) }
            case .items:
                var items: [JSONValue] = []
                for index in 0... {
                    guard let first = members.first, form.isChecked(name(kind, String(index), first)) else { break }
                    var item = JSONObject()
                    let isAsking = try object(String(index), &item)
                    guard isAsking || !members.contains(where: { item[$0.name] == .bool(true) }) else {
                        throw ConsoleForm.invalid(
                            name(kind, String(index), first), "given an amount to pay back, if the item is to be taken")
                    }
                    if isAsking { items.append(.object(item)) }
                }
                if !items.isEmpty { _ = request.add(part.rawValue, .array(items)) }
            }
        }
        let objects = parts.map(\.part).filter { $0 != .request }
        guard objects.isEmpty || objects.contains(where: { request[$0.rawValue] != nil }) else {
            throw ConsoleForm.invalid(kind.rawValue, "filled in for the subscription or an item")
        }
        return request
    }
}

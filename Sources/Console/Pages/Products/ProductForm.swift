import Catalog
import Features
import HTTPSupport
import Proofs

struct ProductForm: Sendable {
    static let identifier = "productID"
    static let others = "others"
    static let version = "version"
    static let identifierTitle = Phrase("Product identifier")
    static let othersTitle = Phrase("Everything else, as JSON")
    /// The maximum number of languages. The App Store has fewer.
    static let maximumLocalizations = 72
    /// The maximum length of the keys without a field, in bytes. Spaces and line ends count.
    private static let maximumOthersLength = 2 * CatalogService.maximumDefinition
    /// The maximum length of a text, in bytes.
    private static let maximumTextLength = 4096

    /// The product. A new one has the identifier that the browser sent, or an empty one.
    let address: ProductAddress
    let isNew: Bool
    let type: ProductType
    /// The values of the keys with one text or number each.
    var values: [ProductKey: String] = [:]
    var isFamilyShareable = false
    /// The texts in each language. Empty texts of a new language are left out.
    var texts: [Product.Localization] = []
    /// The keys without a field, as JSON.
    var others = "{}"
    /// The tag of the definition that the form was made from. Empty for a new product.
    var version = ""
}

extension ProductForm {
    private static let valueKeys = ProductKey.allCases.filter {
        ![.type, .familyShareable, .localizations].contains($0)
    }

    /// The form of a new product, with the languages of the catalog.
    init(new type: ProductType, at address: ProductAddress) {
        self.init(address: address, isNew: true, type: type)
        texts = (address.locales + [""]).map(Self.blank)
    }

    init(_ product: Product, _ definition: JSONObject, at address: ProductAddress) {
        self.init(address: address, isNew: false, type: product.type)
        for key in Self.valueKeys {
            switch definition[key.rawValue] {
            case .string(let text): values[key] = text
            case .number(let number): values[key] = number.text
            default: break
            }
        }
        isFamilyShareable = product.isFamilyShareable
        let known = product.localizations
        let missing = address.locales.filter { locale in !known.contains { $0.locale == locale } }
        texts = known + (missing + [""]).map(Self.blank)
        var rest = JSONObject()
        for member in definition.members where !Self.hasField(member.key) { _ = rest.add(member.key, member.value) }
        others = JSONValue.object(rest).prettyText
        version = Self.tag(of: definition)
    }

    /// The form that the browser sent.
    ///
    /// - Throws: `Problem`, `fieldInvalid`, for a text that is too long.
    init(_ form: ConsoleForm, type: ProductType, at address: ProductAddress, isNew: Bool) throws(Problem) {
        self.init(address: address, isNew: isNew, type: type)
        for key in Self.valueKeys {
            values[key] = try form.text(key.rawValue, upTo: Self.maximumTextLength)
        }
        isFamilyShareable = form.isChecked(ProductKey.familyShareable.rawValue)
        for index in 0..<Self.maximumLocalizations where form.bytes("locale-\(index)") != nil {
            texts.append(
                Product.Localization(
                    locale: try form.text("locale-\(index)"),
                    displayName: try Self.text(form, "displayName-\(index)"),
                    description: try Self.text(form, "description-\(index)")))
        }
        others = try form.text(Self.others, upTo: Self.maximumOthersLength)
        version = try form.text(Self.version)
    }

    private static func blank(_ locale: String) -> Product.Localization {
        Product.Localization(locale: locale, displayName: "", description: "")
    }

    /// Browsers send lines with CR LF.
    private static func text(_ form: ConsoleForm, _ name: String) throws(Problem) -> String {
        try form.text(name, upTo: maximumTextLength).replacing("\r\n", with: "\n")
    }

    /// True if a key of a definition has a field, or is the identifier.
    static func hasField(_ key: String) -> Bool {
        ProductKey.allCases.contains { $0.rawValue.hasSameBytes(as: key) } || key.hasSameBytes(as: identifier)
    }

    /// The tag of a definition. Empty for a product that does not exist.
    static func tag(of definition: JSONObject?) -> String {
        guard let definition else { return "" }
        return CacheableAnswer.tag(of: Array(JSONValue.object(definition).compactText.utf8)).filter { $0 != "\"" }
    }

    func titleOfTexts(_ index: Int) -> Phrase {
        let locale = texts[index].locale
        guard !locale.isEmpty else { return "Another language" }
        let name = CustomerWords.isolated(locale)
        return "Texts in \(name)"
    }
}

/// A key of a definition that has a field of its own in the form of a product, in the order of the form.
enum ProductKey: String, Sendable, CaseIterable {
    case type, referenceName, displayPrice, collection, number, duration, balance, amount
    case subscriptionGroupID, subscriptionGroupName, groupNumber, recurringSubscriptionPeriod
    case familyShareable, localizations

    static func keys(of type: ProductType) -> [ProductKey] { allCases.filter { $0.row.types.contains(type) } }

    var title: Phrase { row.title }

    /// The explanation of a value; nil if the title says it.
    var note: Phrase? { row.note }

    var isNumber: Bool { [.number, .amount, .groupNumber].contains(self) }

    private var row: (title: Phrase, types: [ProductType], note: Phrase?) {
        let items: [ProductType] = [.nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription]
        return switch self {
        case .type: ("Type", ProductType.allCases, nil)
        case .referenceName: ("Reference name", ProductType.allCases, nil)
        case .displayPrice: ("Price", ProductType.allCases, "Such as 1200 or 0.99.")
        case .collection: ("Collection of the item", items, "Such as sprout, up to 64 bytes.")
        case .number: ("Number of the item", items, nil)
        case .duration: ("Duration", [.nonRenewingSubscription], "Such as P1W, P1M, P3M or P1Y.")
        case .balance: (Phrase("Balance", context: "name"), [.consumable], "Letters, digits, - and _.")
        case .amount: ("Amount", [.consumable], "Added for each purchased unit.")
        case .subscriptionGroupID: ("Subscription group, identifier", [.autoRenewableSubscription], nil)
        case .subscriptionGroupName: ("Subscription group, name", [.autoRenewableSubscription], nil)
        case .groupNumber: ("Level in the group (1 is the highest)", [.autoRenewableSubscription], nil)
        case .recurringSubscriptionPeriod:
            (Phrase("Period", context: "renewal"), [.autoRenewableSubscription], "Such as P1W, P1M, P3M or P1Y.")
        case .familyShareable: ("Family Sharing", [.nonConsumable, .autoRenewableSubscription], nil)
        case .localizations: ("Texts", ProductType.allCases, nil)
        }
    }
}

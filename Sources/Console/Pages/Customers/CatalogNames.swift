import Catalog
import Entitlements
import Ledger
import Proofs
import Vocabulary

/// The names of items and products in the catalogs.
struct CatalogNames: Sendable {
    let catalogs: Catalogs

    /// The items of the catalogs and the free ones, in order.
    var items: [Item] {
        let granted = catalogs.all.flatMap { catalog in
            catalog.products.compactMap { catalog.benefit(of: $0.productIdentifier)?.item }
        }
        return Set(granted + catalogs.ownedByEverybody).sorted()
    }

    /// The products for a choice, by their identifiers.
    ///
    /// - Parameter chosen: A product that the choice has even if the catalogs do not; nil for none.
    func products(with chosen: String?) -> [(value: String, title: Phrase)] {
        let known = catalogs.all.flatMap(\.products).map(\.productIdentifier) + [chosen].compactMap(\.self)
        return Set(known.map { ByteKey($0) }).sorted().map { ($0.text, product($0.text)) }
    }

    /// The name of a product; its identifier if the catalogs have no name.
    func product(_ identifier: String) -> Phrase {
        catalogs.product(identifier).flatMap(Self.name) ?? Phrase(same: identifier)
    }

    /// The name of a product with its base plan at Google Play: "Garden Gold (yearly)".
    func plan(_ plan: SubscribedPlan) -> Phrase {
        let name = product(plan.productIdentifier)
        return plan.basePlan.map { "\(name) (\($0))" } ?? name
    }

    /// The item with the name of a product that grants it: "Mint Sprout (sprout 2)".
    func item(_ item: Item) -> Phrase {
        let product = catalogs.all.lazy.compactMap { $0.product(granting: item) }.first
        guard let name = product.flatMap(Self.name) else { return Phrase(same: item.description) }
        return "\(name) (\(item))"
    }

    private static func name(_ product: Product) -> Phrase? {
        let names = ConsoleLanguage.allCases.map { product.localization(language: $0.rawValue)?.displayName ?? "" }
        guard let english = names.first, let korean = names.last, !english.isEmpty, !korean.isEmpty else { return nil }
        return Phrase(english: english, korean: korean)
    }

    /// The item, the product or the balance that an event is about.
    func subject(of event: AuditEntry) -> Phrase {
        (event.event.rule.object == .grant ? Item(typed: event.subject) : nil).map(item) ?? product(event.subject)
    }

    /// The name of a product, and its identifier below it.
    func lines(_ product: String) -> HTML {
        Shown.lines(bdi { self.product(product) }, Shown.identifier(product))
    }

    /// The item's picture beside its name; nothing without a picture.
    func picture(_ item: Item) -> HTML? {
        guard catalogs.all.contains(where: { $0.pictures[item] != nil }) else { return nil }
        return img(
            .class("picture"), .src(ConsolePath("item-pictures", item.collection, String(item.number))),
            HTMLAttribute("alt", ""), HTMLAttribute("width", "56"), HTMLAttribute("height", "56"))
    }
}

package enum CustomerWords {
    /// A text from outside within a sentence, isolated so that its direction does not affect the sentence (UAX #9).
    static func isolated(_ text: String) -> String {
        let isControl: (Unicode.Scalar) -> Bool = { (0x2066...0x2069).contains($0.value) }
        let content =
            text.unicodeScalars.contains(where: isControl)
            ? String(String.UnicodeScalarView(text.unicodeScalars.filter { !isControl($0) })) : text
        return "\u{2068}\(content)\u{2069}"
    }

    static func isolated(_ phrase: Phrase) -> Phrase {
        Phrase(english: isolated(phrase.english), korean: isolated(phrase.korean))
    }

    /// The month of a day: "March 2026".
    static func month(_ day: CalendarDay) -> Phrase {
        let parts = day.description.split(separator: "-")
        guard parts.count == 3, let month = Int(parts[1]), months.indices.contains(month - 1) else {
            return Phrase(same: day.description)
        }
        return Phrase("\(months[month - 1]) \(parts[0])\(korean: month)", context: "whole month")
    }

    static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]

    package static func period(_ period: SubscriptionPeriod) -> Phrase {
        switch (period.value, period.unit) {
        case (1, .day): "daily"
        case (1, .week): "weekly"
        case (1, .month): "monthly"
        case (1, .year): "yearly"
        case (let count, .day): "every \(count) days"
        case (let count, .week): "every \(count) weeks"
        case (let count, .month): "every \(count) months"
        case (let count, .year): "every \(count) years"
        }
    }

    @HTMLBuilder static func issuer(_ issuer: String) -> HTML {
        switch issuer {
        case "": "Your back end"
        case User.accountIssuer: "Account at Till"
        default: Shown.identifier(issuer)
        }
    }

    static func word(_ state: PurchaseState) -> Shown.Word {
        switch state {
        case .trial: ("free trial", .good)
        case .introductory: ("introductory offer", .good)
        case .active: ("active", .good)
        case .willNotRenew: ("active, renewal is off", .warning)
        case .gracePeriod: ("grace period", .warning)
        case .billingRetry: ("not paid", .warning)
        case .paused: ("paused", .warning)
        case .expired: ("expired", .neutral)
        case .revoked: ("revoked", .bad)
        case .upgraded: ("upgraded", .neutral)
        case .owned: ("owned", .good)
        case .consumed: ("added to a balance", .good)
        case .refunded: ("refunded", .bad)
        case .familyShared: ("shared by the family", .good)
        case .unclaimed: ("unclaimed", .warning)
        }
    }

    static func badge(_ state: PurchaseState) -> HTML { Shown.badge(word(state)) }
}

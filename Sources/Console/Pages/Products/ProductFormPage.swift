import Catalog
import Features
import Proofs

/// The form of a product, with its preview.
struct ProductFormPage {
    static let identifierTitle = Phrase("Product identifier")
    static let othersTitle = Phrase("Everything else, as JSON")

    let context: ConsoleContext
    let target: ProductFormTarget
    let fields: ProductFields
    /// The errors of the form that was sent.
    var problems: [FieldProblem] = []
    /// Nil before the first preview.
    var preview: ProductPreview?

    var page: Page {
        Page(title, section: .products) {
            if target.isNew { types }
            context.form(
                to: target.savePath, HTMLAttribute("data-live", ProductPreview.identifier),
                HTMLAttribute("data-live-action", target.previewPath.text), HTMLAttribute("data-stay")
            ) {
                FieldProblem.list(problems, id: "problem")
                input(.type("hidden"), .name(ProductFields.version), .value(fields.version))
                input(.type("hidden"), .name(ProductKey.type.rawValue), .value(fields.type.rawValue))
                div(.class("columns")) {
                    card(fields.type.title) { general }
                    card("Texts") {
                        note(
                            "A new language without texts is left out. Empty the language of a row to remove it with its texts."
                        )
                        for index in fields.texts.indices { texts(index) }
                    }
                }
                card("Advanced") {
                    Field.area(
                        ProductFields.others, Self.othersTitle, value: fields.others, rows: 8,
                        note:
                            "The other keys of a .storekit file, such as introductoryOffers, adHocOffers, codeOffers and winbackOffers."
                    )
                }
                p(.class("actions")) {
                    button(.class("primary")) { "Save" }
                    button(HTMLAttribute("formaction", target.previewPath.text), HTMLAttribute("formnovalidate")) {
                        "Preview"
                    }
                    a(.class("button"), .href(back)) { "Cancel" }
                }
            }
            section(.id(ProductPreview.identifier), .class("card")) {
                h2 { "Preview" }
                if let preview {
                    preview.content
                } else {
                    emptyNote("Nothing is saved before you save.")
                }
            }
        }
    }

    private var title: Phrase { target.isNew ? "New product" : "Edit \(fields.productIdentifier)" }

    private var back: ConsolePath {
        switch target {
        case .new: ConsolePath("products")
        case .existing(let address): address.path()
        }
    }

    /// The types of a new product. Each has a form of its own.
    private var types: HTML {
        Tabs.list("Type") {
            for type in ProductType.allCases {
                Tabs.link(type.title, to: target.formPath(type), isPresent: type == fields.type)
            }
        }
    }

    @HTMLBuilder private var general: HTML {
        if target.isNew {
            Field.text(
                ProductFields.identifier, Self.identifierTitle, value: fields.productIdentifier, isRequired: true,
                note: "As in App Store Connect, such as com.example.coins100. It cannot be changed later.")
        } else {
            Facts.list {
                fact(Self.identifierTitle) { Shown.identifier(fields.productIdentifier) }
            }
        }
        if case .new(let app, .some) = target {
            Facts.list {
                fact("App") { Shown.identifier(app.bundleIdentifier) }
            }
        }
        for key in ProductKey.keys(of: fields.type) { field(key) }
        note("The price is in \(target.app.catalog.storefront.currency), the currency of the storefront.")
    }

    @HTMLBuilder private func field(_ key: ProductKey) -> HTML {
        switch key {
        case .type, .localizations: HTML()
        case .familyShareable:
            Field.checkbox(key.rawValue, key.title, isChecked: fields.isFamilyShareable)
        default:
            Field.text(
                key.rawValue, key.title, value: fields.values[key] ?? "",
                inputMode: key.isNumber ? "numeric" : key == .displayPrice ? "decimal" : nil, note: key.note)
        }
    }

    static func titleOfTexts(_ index: Int, _ fields: ProductFields) -> Phrase {
        let locale = fields.texts[index].locale
        guard !locale.isEmpty else { return "Another language" }
        let name = CustomerWords.isolated(locale)
        return "Texts in \(name)"
    }

    private func texts(_ index: Int) -> HTML {
        let texts = fields.texts[index]
        return fieldset {
            legend { Self.titleOfTexts(index, fields) }
            Field.text("locale-\(index)", "Language, such as ko or en_US", value: texts.locale)
            Field.text("displayName-\(index)", "Name", value: texts.displayName, maximumLength: 1000)
            Field.area("description-\(index)", "Description", value: texts.description, rows: 2)
        }
    }
}

/// An error in a form: the field and a sentence.
struct FieldProblem: Hashable, Sendable {
    /// The identifier of the field on the page. Nil if the error belongs to no field.
    var field: String?
    var title: Phrase?
    let sentence: Phrase

    /// The errors, each with a link to its field.
    ///
    /// - Parameter identifier: The identifier of the element. The script moves `problem` into the form.
    static func list(_ problems: [FieldProblem], id identifier: String) -> HTML? {
        guard !problems.isEmpty else { return nil }
        return div(.class("problem"), .role("alert"), .id(identifier)) {
            for problem in problems {
                p {
                    if let title = problem.title {
                        if let field = problem.field {
                            a(.href(fragment: field)) { title }
                        } else {
                            title
                        }
                        plain(": ")
                    }
                    bdi { problem.sentence }
                }
            }
        }
    }
}

extension CatalogError {
    /// The reason in each language. Rare reasons are in English only.
    var sentence: Phrase {
        let sentences: [(start: String, sentence: Phrase)] = [
            ("the key is missing", "Fill in the field."),
            ("the text is empty", "Fill in the field."),
            ("it should be a whole number", "Write a whole number, 0 or more."),
            ("it is no price", "Write a price such as 1200 or 0.99."),
            ("it is not a period", "Write a period such as P1W, P1M or P1Y."),
        ]
        let starts = [
            "it has to be from 1 to", "a balance's name has", "a collection's name has", "a product's identifier has",
            "a text is longer than", "it is larger than", "its width and height", "its size is",
            "another app sells it as",
        ]
        if let known = sentences.first(where: { reason.hasPrefix($0.start) }) { return known.sentence }
        let plain = reason.prefix(1).uppercased() + reason.dropFirst() + "."
        if let start = starts.first(where: reason.hasPrefix) {
            return Phrase(stated: plain, key: "\(start) [error]", [String(Picture.maximumSide)])
        }
        if reason.hasSuffix(" is given twice") {
            let item = reason.dropLast(" is given twice".count)
            return "Another product grants \(item), or everybody owns it."
        }
        if reason.hasSuffix(" is there twice") {
            let locale = reason.dropLast(" is there twice".count)
            return "The language \(locale) is there twice."
        }
        return Phrase(same: plain)
    }
}

extension CatalogChangeError {
    /// The message in each language.
    var sentence: Phrase {
        switch self {
        case .productInvalid(let error), .pictureInvalid(let error), .rightInvalid(let error),
            .offeringInvalid(let error):
            error.sentence
        case .productTypeFixed(let type):
            Phrase(stated: message, key: "productTypeFixed [error]", [type.title.korean])
        default: rule.korean.map { Phrase(english: message, korean: $0) } ?? Phrase(same: message)
        }
    }
}

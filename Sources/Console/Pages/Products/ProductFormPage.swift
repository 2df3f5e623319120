import Catalog
import Features
import Proofs

/// The form of a product, with its preview.
struct ProductFormPage {
    static let identifierTitle = Phrase("Product identifier", "상품 식별자")
    static let othersTitle = Phrase("Everything else, as JSON", "그 밖의 모든 항목 (JSON)")

    let context: ConsoleContext
    let target: ProductFormTarget
    let fields: ProductFields
    /// The errors of the form that was sent.
    var problems: [FieldProblem] = []
    /// Nil before the first preview.
    let preview: ProductPreview?

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
                    section(.class("card")) {
                        h2 { fields.type.title }
                        general
                    }
                    section(.class("card")) {
                        h2 { Phrase("Texts", "텍스트") }
                        p(.class("note")) {
                            Phrase(
                                "A new language without texts is left out. Empty the language of a row to remove it with its texts.",
                                "텍스트가 없는 새 언어는 저장하지 않습니다. 언어를 삭제하려면 그 줄의 모든 입력란을 비우세요.")
                        }
                        for index in fields.texts.indices { texts(index) }
                    }
                }
                section(.class("card")) {
                    h2 { Phrase("Advanced", "고급") }
                    Field.area(
                        ProductFields.others, Self.othersTitle, value: fields.others, rows: 8,
                        note: Phrase(
                            "The other keys of a .storekit file, such as introductoryOffers, adHocOffers, codeOffers and winbackOffers.",
                            ".storekit 파일의 다른 키. 예: introductoryOffers, adHocOffers, codeOffers, winbackOffers"))
                }
                p(.class("actions")) {
                    button(.class("primary")) { Phrase("Save", "저장") }
                    button(HTMLAttribute("formaction", target.previewPath.text), HTMLAttribute("formnovalidate")) {
                        Phrase("Preview", "미리 보기")
                    }
                    a(.class("button"), .href(back)) { Phrase("Cancel", "취소") }
                }
            }
            section(.id(ProductPreview.identifier), .class("card")) {
                h2 { Phrase("Preview", "미리 보기") }
                if let preview {
                    preview.content
                } else {
                    p(.class("empty")) { Phrase("Nothing is saved before you save.", "저장하기 전에는 아무것도 바뀌지 않습니다.") }
                }
            }
        }
    }

    private var title: Phrase {
        target.isNew
            ? Phrase("New product", "새 상품")
            : Phrase("Edit \(fields.productIdentifier)", "\(fields.productIdentifier) 수정")
    }

    private var back: ConsolePath {
        switch target {
        case .new: ConsolePath("products")
        case .existing(let address): address.path()
        }
    }

    /// The types of a new product. Each has a form of its own.
    private var types: HTML {
        Tabs.list(Phrase("Type", "유형")) {
            for type in ProductType.allCases {
                Tabs.link(type.title, to: target.formPath(type), isPresent: type == fields.type)
            }
        }
    }

    @HTMLBuilder private var general: HTML {
        if target.isNew {
            Field.text(
                ProductFields.identifier, Self.identifierTitle, value: fields.productIdentifier, isRequired: true,
                note: Phrase(
                    "As in App Store Connect, such as com.example.coins100. It cannot be changed later.",
                    "App Store Connect와 같게. 예: com.example.coins100. 나중에 바꿀 수 없습니다."))
        } else {
            Facts.list([(Self.identifierTitle, Shown.identifier(fields.productIdentifier))])
        }
        if case .new(let app, .some) = target {
            Facts.list([(Phrase("App", "앱"), Shown.identifier(app.bundleIdentifier))])
        }
        for key in ProductKey.keys(of: fields.type) { field(key) }
        p(.class("note")) {
            Phrase(
                "The price is in \(target.app.catalog.storefront.currency), the currency of the storefront.",
                "가격의 통화는 스토어프론트의 \(target.app.catalog.storefront.currency)입니다.")
        }
    }

    private func field(_ key: ProductKey) -> HTML? {
        switch key {
        case .type, .localizations: nil
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
        guard !locale.isEmpty else { return Phrase("Another language", "다른 언어") }
        let name = CustomerWords.isolated(locale)
        return Phrase("Texts in \(name)", "\(name) 텍스트")
    }

    private func texts(_ index: Int) -> HTML {
        let texts = fields.texts[index]
        return fieldset {
            legend { Self.titleOfTexts(index, fields) }
            Field.text(
                "locale-\(index)", Phrase("Language, such as ko or en_US", "언어, 예: ko, en_US"), value: texts.locale)
            Field.text("displayName-\(index)", Phrase("Name", "이름"), value: texts.displayName, maximumLength: 1000)
            Field.area("description-\(index)", Phrase("Description", "설명"), value: texts.description, rows: 2)
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
        let translations: [(start: String, english: String, korean: String)] = [
            ("the key is missing", "Fill in the field.", "값을 입력하세요."),
            ("the text is empty", "Fill in the field.", "값을 입력하세요."),
            ("it should be a whole number", "Write a whole number, 0 or more.", "0 이상의 정수를 입력하세요."),
            ("it has to be from 1 to", "", "1에서 1,000,000,000 사이여야 합니다."),
            ("it is no price", "Write a price such as 1200 or 0.99.", "1200 또는 0.99와 같은 가격을 입력하세요."),
            ("it is not a period", "Write a period such as P1W, P1M or P1Y.", "P1W, P1M, P1Y와 같은 기간을 입력하세요."),
            ("a balance's name has", "", "잔액 이름은 영문자, 숫자, -, _로 64자까지입니다."),
            ("a collection's name has", "", "컬렉션 이름은 64바이트까지이며 제어 문자를 쓸 수 없습니다."),
            ("a product's identifier has", "", "상품 식별자는 영문자, 숫자, ., -, _로 255자까지입니다."),
            ("a text is longer than", "", "텍스트가 너무 깁니다."),
            ("it is larger than", "", "정의가 너무 큽니다."),
            ("its width and height", "", "그림의 너비와 높이를 읽을 수 없습니다."),
            ("its size is", "", "그림의 너비와 높이는 \(Picture.maximumSide)픽셀까지입니다."),
            ("another app sells it as", "", "다른 앱이 같은 식별자를 다른 유형으로 판매합니다."),
        ]
        let plain = reason.prefix(1).uppercased() + reason.dropFirst() + "."
        if let known = translations.first(where: { reason.hasPrefix($0.start) }) {
            return Phrase(known.english.isEmpty ? plain : known.english, known.korean)
        }
        if reason.hasSuffix(" is given twice") {
            let item = reason.dropLast(" is given twice".count)
            return Phrase(
                "Another product grants \(item), or everybody owns it.",
                "\(item)을(를) 다른 상품이 제공하거나 모두가 소유합니다.")
        }
        if reason.hasSuffix(" is there twice") {
            let locale = reason.dropLast(" is there twice".count)
            return Phrase("The language \(locale) is there twice.", "언어 \(locale)이(가) 두 번 있습니다.")
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
            Phrase(message, "상품 유형은 \(type.title.korean)이며 바꿀 수 없습니다. 다른 상품을 정의하세요.")
        default: rule.korean.map { Phrase(message, $0) } ?? Phrase(same: message)
        }
    }
}

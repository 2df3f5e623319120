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

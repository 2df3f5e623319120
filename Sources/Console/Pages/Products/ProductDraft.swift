import Catalog
import Features
import Proofs

/// The definition that the fields of a form make of a product. Keys keep their order, so that a difference is short.
struct ProductDraft: Sendable {
    let form: ProductForm
    /// The definition; incomplete if there are problems.
    private(set) var object = JSONObject()
    /// The errors of the form itself.
    private(set) var problems: [FieldProblem] = []
    /// The form's row of each localization.
    private var rows: [Int] = []

    /// - Parameter base: The present definition; nil for a new product.
    init(_ form: ProductForm, replacing base: JSONObject?) {
        self.form = form
        let shown = ProductKey.keys(of: form.type)
        let others = readOthers()
        var values: [(key: String, value: JSONValue)] = []
        for key in shown {
            if let value = value(key, replacing: base?[key.rawValue]) { values.append((key.rawValue, value)) }
        }
        object = Self.object(values + others.members.map { ($0.key, $0.value) }, replacing: base) { key in
            // The identifier, and keys that mean nothing for the type.
            ProductForm.hasField(key) && !shown.contains { $0.rawValue == key }
        }
    }

    /// An object with given values. Keys keep their places in the present object.
    ///
    /// - Parameter keeps: True for a key of the present object that stays without a given value.
    private static func object(
        _ values: [(key: String, value: JSONValue)], replacing base: JSONObject?, keeps: (String) -> Bool
    ) -> JSONObject {
        var object = JSONObject()
        for member in base?.members ?? [] {
            let new = values.first { $0.key.hasSameBytes(as: member.key) }?.value
            if let value = new ?? (keeps(member.key) ? member.value : nil) { _ = object.add(member.key, value) }
        }
        for (key, value) in values { _ = object.add(key, value) }
        return object
    }

    private mutating func readOthers() -> JSONObject {
        let value: JSONValue
        do throws(JSONSyntaxError) { value = try JSONParser.parse(Array(form.others.utf8)) } catch {
            guard !form.others.isEmpty else { return JSONObject() }
            problems.append(.others("It is not JSON: \(error.message)."))
            return JSONObject()
        }
        guard case .object(let object) = value else {
            problems.append(.others("It must be a JSON object."))
            return JSONObject()
        }
        if let key = object.keys.first(where: ProductForm.hasField) {
            problems.append(.others("The key \"\(key)\" has a field of its own. Change it there."))
        }
        return object
    }

    /// The value of a field. Without a value, a key is kept empty if the definition has it, and left out otherwise.
    private mutating func value(_ key: ProductKey, replacing value: JSONValue?) -> JSONValue? {
        switch key {
        case .type: return .string(form.type.configurationName)
        case .familyShareable: return form.isFamilyShareable || value != nil ? .bool(form.isFamilyShareable) : nil
        case .localizations: return localizations(replacing: value)
        default:
            let text = form.values[key] ?? ""
            guard key.isNumber else { return text.isEmpty && value == nil ? nil : .string(text) }
            return text.isEmpty ? nil : Int64(text).map { .integer($0) } ?? .string(text)
        }
    }

    private mutating func localizations(replacing value: JSONValue?) -> JSONValue? {
        var before: [JSONObject] = []
        if case .array(let elements) = value {
            before = elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
        }
        var elements: [JSONValue] = []
        for (index, localization) in form.texts.enumerated() {
            let known = before.first { $0["locale"] == .string(localization.locale) }
            let isEmpty = localization.displayName.isEmpty && localization.description.isEmpty
            guard !isEmpty || known != nil && !localization.locale.isEmpty else { continue }
            if localization.locale.isEmpty { problems.append(problem(ofTexts: index, "locale", "Fill in the field.")) }
            let values: [(key: String, value: JSONValue)] = [
                ("description", .string(localization.description)), ("displayName", .string(localization.displayName)),
                ("locale", .string(localization.locale)),
            ]
            elements.append(.object(Self.object(values, replacing: known) { _ in true }))
            rows.append(index)
        }
        return elements.isEmpty && value == nil ? nil : .array(elements)
    }

    func problem(_ error: CatalogChangeError) -> FieldProblem {
        switch error {
        case .productInvalid(let error): problem(error)
        case .productBenefitFixed:
            FieldProblem(
                field: (form.type == .consumable ? ProductKey.balance : .collection).rawValue,
                title: "Benefit", sentence: error.sentence)
        default: FieldProblem(sentence: error.sentence)
        }
    }

    private func problem(_ error: CatalogError) -> FieldProblem {
        let (path, sentence) = (error.key ?? "", error.sentence)
        if path == ProductForm.identifier { return .identifier(sentence) }
        if let match = path.wholeMatch(of: /localizations\[(\d+)\]\.(locale|displayName|description)/),
            let index = Int(match.1), rows.indices.contains(index)
        {
            return problem(ofTexts: rows[index], match.2, sentence)
        }
        if let key = ProductKey(rawValue: path), ProductKey.keys(of: form.type).contains(key) {
            return FieldProblem(field: path, title: key.title, sentence: sentence)
        }
        guard !path.isEmpty else { return FieldProblem(sentence: sentence) }
        return .others(sentence, key: path)
    }

    private func problem(ofTexts index: Int, _ key: Substring, _ sentence: Phrase) -> FieldProblem {
        FieldProblem(field: "\(key)-\(index)", title: form.titleOfTexts(index), sentence: sentence)
    }
}

/// An error in a form: the field and a sentence.
struct FieldProblem: Hashable, Sendable {
    /// The identifier of the field on the page. Nil if the error belongs to no field.
    var field: String?
    var title: Phrase?
    let sentence: Phrase

    static func identifier(_ sentence: Phrase) -> FieldProblem {
        FieldProblem(field: ProductForm.identifier, title: ProductForm.identifierTitle, sentence: sentence)
    }

    /// An error in the keys without a field, or in one of them.
    static func others(_ sentence: Phrase, key: String? = nil) -> FieldProblem {
        let title = key.map { key -> Phrase in
            let name = CustomerWords.isolated(key)
            return "\(ProductForm.othersTitle), \(name)"
        }
        return FieldProblem(field: ProductForm.others, title: title ?? ProductForm.othersTitle, sentence: sentence)
    }

    /// The errors, each with a link to its field.
    ///
    /// - Parameter identifier: The identifier of the element. The script moves `problem` into the form.
    static func list(_ problems: [FieldProblem], id identifier: String) -> HTML? {
        guard !problems.isEmpty else { return nil }
        return div(.class("problem"), .role("alert"), .id(identifier)) {
            for problem in problems {
                p {
                    if let title = problem.title, let field = problem.field {
                        a(.href(fragment: field)) { title }
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

import Catalog
import Features
import Proofs

/// The definition that the fields of a form make of a product. Keys keep their order, so that a difference is short.
struct ProductDraft: Sendable {
    let fields: ProductFields
    /// The definition; incomplete if there are problems.
    private(set) var object = JSONObject()
    /// The errors of the form itself.
    private(set) var problems: [FieldProblem] = []
    /// The form's row of each localization.
    private var rows: [Int] = []

    /// - Parameter base: The present definition; nil for a new product.
    init(_ fields: ProductFields, replacing base: JSONObject?) {
        self.fields = fields
        let shown = ProductKey.keys(of: fields.type)
        let others = readOthers()
        for member in base?.members ?? [] {
            if let key = ProductKey(rawValue: member.key), shown.contains(key) {
                add(key, replacing: member.value)
            } else if ProductFields.hasField(member.key) {
                // The identifier, and keys that mean nothing for the type.
                _ = object.add(member.key, member.value)
            } else if let value = others[member.key] {
                _ = object.add(member.key, value)
            }
        }
        for key in shown where base?[key.rawValue] == nil { add(key, replacing: nil) }
        for member in others.members { _ = object.add(member.key, member.value) }
    }

    private mutating func readOthers() -> JSONObject {
        let value: JSONValue
        do throws(JSONSyntaxError) { value = try JSONParser.parse(Array(fields.others.utf8)) } catch {
            guard !fields.others.isEmpty else { return JSONObject() }
            problems.append(Self.problemOfOthers("It is not JSON: \(error.message)."))
            return JSONObject()
        }
        guard case .object(let object) = value else {
            problems.append(Self.problemOfOthers("It must be a JSON object."))
            return JSONObject()
        }
        if let key = object.keys.first(where: ProductFields.hasField) {
            problems.append(Self.problemOfOthers("The key \"\(key)\" has a field of its own. Change it there."))
        }
        return object
    }

    private static func problemOfOthers(_ sentence: Phrase) -> FieldProblem {
        FieldProblem(field: ProductFields.others, title: ProductFormPage.othersTitle, sentence: sentence)
    }

    /// Adds the value of a field. Without a value, a key is kept empty if the definition has it, and left out otherwise.
    private mutating func add(_ key: ProductKey, replacing value: JSONValue?) {
        let new: JSONValue?
        switch key {
        case .type: new = .string(fields.type.configurationName)
        case .familyShareable: new = fields.isFamilyShareable || value != nil ? .bool(fields.isFamilyShareable) : nil
        case .localizations: new = localizations(replacing: value)
        default:
            let text = fields.values[key] ?? ""
            if key.isNumber {
                new = text.isEmpty ? nil : Int64(text).map { .integer($0) } ?? .string(text)
            } else {
                new = text.isEmpty && value == nil ? nil : .string(text)
            }
        }
        if let new { _ = object.add(key.rawValue, new) }
    }

    private mutating func localizations(replacing value: JSONValue?) -> JSONValue? {
        var before: [JSONObject] = []
        if case .array(let elements) = value {
            before = elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
        }
        var elements: [JSONValue] = []
        for (index, texts) in fields.texts.enumerated() {
            let known = before.first { $0["locale"] == .string(texts.locale) }
            let isEmpty = texts.displayName.isEmpty && texts.description.isEmpty
            guard !isEmpty || known != nil && !texts.locale.isEmpty else { continue }
            if texts.locale.isEmpty {
                problems.append(
                    FieldProblem(
                        field: "locale-\(index)", title: ProductFormPage.titleOfTexts(index, fields),
                        sentence: "Fill in the field."))
            }
            let values = [
                ("description", texts.description), ("displayName", texts.displayName), ("locale", texts.locale),
            ]
            var element = JSONObject()
            for member in known?.members ?? [] {
                let new = values.first { $0.0 == member.key }
                _ = element.add(member.key, new.map { .string($0.1) } ?? member.value)
            }
            for (key, text) in values { _ = element.add(key, .string(text)) }
            elements.append(.object(element))
            rows.append(index)
        }
        return elements.isEmpty && value == nil ? nil : .array(elements)
    }

    /// The error of a change, at its field.
    func problem(_ error: CatalogChangeError) -> FieldProblem {
        switch error {
        case .productInvalid(let error): problem(error)
        case .productBenefitFixed:
            FieldProblem(
                field: (fields.type == .consumable ? ProductKey.balance : .collection).rawValue,
                title: "Benefit", sentence: error.sentence)
        default: FieldProblem(sentence: error.sentence)
        }
    }

    private func problem(_ error: CatalogError) -> FieldProblem {
        let path = error.key ?? ""
        if path == ProductFields.identifier {
            return FieldProblem(field: path, title: ProductFormPage.identifierTitle, sentence: error.sentence)
        }
        if let match = path.wholeMatch(of: /localizations\[(\d+)\]\.(locale|displayName|description)/),
            let index = Int(match.1), rows.indices.contains(index)
        {
            return FieldProblem(
                field: "\(match.2)-\(rows[index])", title: ProductFormPage.titleOfTexts(rows[index], fields),
                sentence: error.sentence)
        }
        if let key = ProductKey(rawValue: path), ProductKey.keys(of: fields.type).contains(key) {
            return FieldProblem(field: path, title: key.title, sentence: error.sentence)
        }
        guard !path.isEmpty else { return FieldProblem(sentence: error.sentence) }
        let key = CustomerWords.isolated(path)
        return FieldProblem(
            field: ProductFields.others, title: "\(ProductFormPage.othersTitle), \(key)", sentence: error.sentence)
    }
}

import Proofs

/// The decoded values of a proof, as nested lists.
enum ProofTree {
    /// The maximum lengths of a text and of bytes that are shown.
    private static let maximumTextLength = 2000
    private static let maximumByteCount = 64
    /// The maximum number of open lists at one level. More are shown when the reader opens them.
    private static let maximumOpen = 4

    static func html(_ value: ProofValue, named name: String = "") -> HTML {
        switch value {
        case .fields(let fields):
            let isOpen = fields.count(where: { $0.value.hasParts }) <= maximumOpen
            return ul(.class("tree")) { for field in fields { li { html(field, isOpen: isOpen) } } }
        case .list(let values):
            let isOpen = values.count(where: \.hasParts) <= maximumOpen
            return ul(.class("tree")) {
                for (index, value) in values.enumerated() {
                    li {
                        if value.hasParts {
                            nested(value, named: name, isOpen: isOpen) { plain("\(index + 1)") }
                        } else {
                            html(value, named: name)
                        }
                    }
                }
            }
        case .text(let text): return shown(text)
        case .number(let digits):
            return HTML {
                code { data(clipped(digits, to: maximumTextLength)) }
                if let meaning = ProofFieldMeaning.phrase(ofNumber: digits, in: name) { also(small { meaning }) }
            }
        case .bool(let bool): return Shown.identifier(bool ? "true" : "false")
        case .null: return Shown.identifier("null")
        case .date(let date, let stated):
            return spaced(Shown.moment(date), small { code { data(clipped(stated, to: 64)) } })
        case .bytes(let bytes): return Self.bytes(bytes)
        case .proof(let inspection): return proof(inspection)
        case .certificates(let count):
            return HTML { "\(count) certificates, shown below" }
        case .omitted: return HTML { "More values are not shown." }
        }
    }

    private static func html(_ field: ProofValue.Field, isOpen: Bool) -> HTML {
        let title = HTML {
            strong { data(clipped(field.name, to: 128)) }
            if let attribute = field.attribute {
                plain(field.name.isEmpty ? "" : " ")
                small { plain("[\(attribute)]") }
            }
            if let meaning = ProofFieldMeaning.phrase(of: field.name) { also(small { meaning }) }
        }
        if field.value.hasParts {
            return nested(field.value, named: field.name, isOpen: isOpen) { title }
        }
        return spaced(by: ": ", title, html(field.value, named: field.name))
    }

    private static func nested(
        _ value: ProofValue, named name: String, isOpen: Bool, @HTMLBuilder title: () -> HTML
    ) -> HTML {
        details(isOpen ? .open : nil) {
            summary {
                title()
                if let hint = value.hint { also(small { data(clipped(hint, to: 256)) }) }
            }
            html(value, named: name)
        }
    }

    /// A JWS inside the proof.
    @HTMLBuilder private static func proof(_ inspection: ProofInspection) -> HTML {
        inspection.facts(origin: nil)
        if let payload = inspection.payload { html(payload) }
        details {
            summary { "Header and certificates" }
            if let header = inspection.header { html(header) }
            inspection.certificateList
        }
    }

    private static func shown(_ text: String) -> HTML {
        guard text.utf8.count > maximumTextLength else { return Shown.identifier(text) }
        let count = Shown.digits(Int64(text.utf8.count))
        return HTML {
            code { data(clipped(text, to: maximumTextLength)) }
            plain(" … ")
            small { "\(count) bytes" }
        }
    }

    /// The beginning of a text, in bytes: a single character of a stranger's text may be long.
    private static func clipped(_ text: String, to maximum: Int) -> String {
        text.utf8.count <= maximum ? text : String(decoding: text.utf8.prefix(maximum), as: UTF8.self)
    }

    @HTMLBuilder static func bytes(_ bytes: [UInt8]) -> HTML {
        if !bytes.isEmpty { code { plain(bytes.prefix(maximumByteCount).hexadecimal) } }
        plain(bytes.count > maximumByteCount ? " … " : " ")
        small { "\(bytes.count) bytes" }
    }
}

extension ProofValue {
    /// True if the value has values inside it.
    fileprivate var hasParts: Bool {
        switch self {
        case .fields(let fields): !fields.isEmpty
        case .list(let values): !values.isEmpty
        case .proof: true
        default: false
        }
    }

    /// The product or the transaction of a purchase, which tells it from others.
    fileprivate var hint: String? {
        for name in ["productId", "transactionId"] {
            if case .text(let text)? = self[name] { return text }
        }
        return nil
    }
}

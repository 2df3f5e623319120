import Proofs

/// The error of a statement about an attribute.
package enum AttributeError: RuledError, Equatable {
    /// - Parameter name: The beginning of the name.
    case nameInvalid(String)
    case valueInvalid(name: String)
    case tooMany

    package var rule: ErrorRule {
        switch self {
        case .nameInvalid(let name):
            ErrorRule(
                "attributeNameInvalid", .unprocessable,
                "\"\(name)\" is not an attribute's name. Use 1 to \(Attribute.maximumNameLength) bytes, without control "
                    + "characters.",
                korean: "쓸 수 없는 속성 이름입니다. 제어 문자 없이 1~\(Attribute.maximumNameLength)바이트로 입력하세요.")
        case .valueInvalid(let name):
            ErrorRule(
                "attributeValueInvalid", .unprocessable,
                "The value of \"\(name)\" is too long or contains NUL. Use at most \(Attribute.maximumValueLength) bytes.",
                korean: "속성의 값이 너무 길거나 NUL이 있습니다. \(Attribute.maximumValueLength)바이트까지 입력하세요.")
        case .tooMany:
            ErrorRule(
                "attributesTooMany", .unprocessable,
                "A customer has at most \(Attribute.maximumCount) attributes. Remove some, or use fewer names.",
                korean: "고객의 속성은 \(Attribute.maximumCount)개까지입니다. 일부를 지우거나 이름을 줄이세요.")
        }
    }
}

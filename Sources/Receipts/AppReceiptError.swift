/// Why the signed content of an app receipt is not one.
enum AppReceiptError: Error, Equatable {
    case attributeMissing(Int)
    case attributeRepeated(Int)
    case dateInvalid(attribute: Int)
    case textInvalid(attribute: Int)
    case receiptTypeUnknown(String)
    case quantityOutOfRange
    case tooManyPurchases(limit: Int)

    var message: String {
        switch self {
        case .attributeMissing(let type): "Attribute \(type) is missing."
        case .attributeRepeated(let type): "Attribute \(type) stands there twice."
        case .dateInvalid(let type): "Attribute \(type) is no date."
        case .textInvalid(let type): "Attribute \(type) is no text."
        case .receiptTypeUnknown(let type): "The receipt type \"\(type.prefix(32))\" is none of Apple's."
        case .quantityOutOfRange: "A quantity is not positive."
        case .tooManyPurchases(let limit): "It holds more than \(limit) purchases."
        }
    }
}

/// A defect in the signed content of an app receipt.
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
        case .attributeRepeated(let type): "Attribute \(type) appears twice."
        case .dateInvalid(let type): "Attribute \(type) must be a date."
        case .textInvalid(let type): "Attribute \(type) must be a string."
        case .receiptTypeUnknown(let type): "Apple defines no receipt type \"\(type.prefix(32))\"."
        case .quantityOutOfRange: "A quantity must be from 1 to \(Int32.max)."
        case .tooManyPurchases(let limit): "The receipt contains more than \(limit) purchases."
        }
    }
}

import Commerce

/// The attributes of one set by their type, for reading.
struct ReceiptAttributes {
    private var single: [Int: ReceiptAttribute] = [:]
    private(set) var inAppPurchases: [ReceiptAttribute] = []

    /// - Throws: `AppReceiptError.attributeRepeated` for any type but the in-app purchases, which are many.
    init(_ attributes: [ReceiptAttribute], repeatable: Int? = nil) throws {
        for attribute in attributes {
            if attribute.type == repeatable {
                inAppPurchases.append(attribute)
            } else if single.updateValue(attribute, forKey: attribute.type) != nil {
                throw AppReceiptError.attributeRepeated(attribute.type)
            }
        }
    }

    func required(_ type: Int) throws -> ReceiptAttribute {
        guard let attribute = single[type] else { throw AppReceiptError.attributeMissing(type) }
        return attribute
    }

    func string(_ type: Int) throws -> String? { try single[type]?.string() }
    func date(_ type: Int) throws -> Timestamp? { try single[type]?.date() }
    func integer(_ type: Int) throws -> Int64? { try single[type]?.integer() }
    func bytes(_ type: Int) -> [UInt8]? { single[type]?.value }

    /// Those whose type is none of the given, by type.
    func others(than known: Set<Int>) -> [ReceiptAttribute] {
        single.values.filter { !known.contains($0.type) }.sorted { $0.type < $1.type }
    }
}

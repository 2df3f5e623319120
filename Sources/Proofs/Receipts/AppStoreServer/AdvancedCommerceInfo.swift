/// The Advanced Commerce part of a signed transaction (`advancedCommerceInfo`). The ledger keeps its JSON.
struct AdvancedCommerceTransactionInfo: PayloadObject {
    init(_ fields: PayloadFields) throws(PayloadError) {
        try fields.check([
            .optional("descriptors", .object(AdvancedCommerceForm.descriptors)), .optional("estimatedTax", .integer),
            .optional(
                "items",
                .objects(
                    AdvancedCommerceForm.item + [
                        .optional(
                            "refunds",
                            .objects([
                                .optional("refundAmount", .integer), .optional("refundDate", .date),
                                .optional("refundReason", .text), .optional("refundType", .text),
                            ])),
                        .optional("revocationDate", .date),
                    ])),
            .optional("period", .text), .optional("requestReferenceId", .text), .optional("taxCode", .text),
            .optional("taxExclusivePrice", .integer), .optional("taxRate", .text),
        ])
    }
}

/// The Advanced Commerce part of signed renewal information (`advancedCommerceInfo`). The ledger keeps its JSON.
struct AdvancedCommerceRenewalInfo: PayloadObject {
    init(_ fields: PayloadFields) throws(PayloadError) {
        try fields.check([
            .optional("consistencyToken", .text), .optional("descriptors", .object(AdvancedCommerceForm.descriptors)),
            .optional(
                "items",
                .objects(
                    AdvancedCommerceForm.item + [
                        .optional(
                            "priceIncreaseInfo",
                            .object([
                                .optional("dependentSKUs", .texts), .optional("price", .integer),
                                .optional("status", .text),
                            ]))
                    ])),
            .optional("period", .text), .optional("requestReferenceId", .text), .optional("taxCode", .text),
        ])
    }
}

/// The forms of the objects that both parts have.
private enum AdvancedCommerceForm {
    /// The display name and the description of a purchase.
    static let descriptors: [PayloadField] = [.required("description", .text), .required("displayName", .text)]

    /// One item of a purchase or a subscription, and the offer on it.
    static let item: [PayloadField] = [
        .optional("sku", .text), .optional("description", .text), .optional("displayName", .text),
        .optional(
            "offer",
            .object([
                .required("period", .text), .required("periodCount", .integer), .required("price", .integer),
                .required("reason", .text),
            ])),
        .optional("price", .integer),
    ]
}

import Foundation

/// The fields of a product's form, as a browser sends them.
enum ProductForm {
    /// A new product.
    static let moon = [
        "type": "Non-Consumable", "productID": "moon", "referenceName": "Moon", "displayPrice": "2500",
        "collection": "sprout", "number": "9", "locale-0": "en_US", "displayName-0": "Moon Sprout",
        "description-0": "It shines at night.", "locale-1": "ko", "displayName-1": "달 새싹",
        "description-1": "밤에 빛나요.", "locale-2": "", "displayName-2": "", "description-2": "", "others": "{}",
        "version": "",
    ]

    /// The fields of a page with a form.
    static func fields(of page: Browser.Page) -> [String: String] {
        var fields: [String: String] = [:]
        for match in page.text.matches(of: /<input ([^>]*)>/) {
            guard let name = attribute("name", of: match.1) else { continue }
            if attribute("type", of: match.1) == "checkbox", !match.1.contains(" checked") { continue }
            fields[name] = attribute("value", of: match.1) ?? ""
        }
        for match in page.text.matches(of: /<textarea ([^>]*)>([^<]*)<\/textarea>/) {
            guard let name = attribute("name", of: match.1) else { continue }
            fields[name] = unescaped(match.2)
        }
        fields["form-token"] = nil
        return fields
    }

    private static func attribute(_ name: String, of tag: Substring) -> String? {
        guard let start = (" " + tag).range(of: " \(name)=\"")?.upperBound else { return nil }
        return unescaped((" " + tag)[start...].prefix { $0 != "\"" })
    }

    private static func unescaped(_ text: Substring) -> String {
        String(text).replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
            .replacing("&#39;", with: "'").replacing("&amp;", with: "&")
    }
}

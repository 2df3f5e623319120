import Proofs

/// A JSON value as a tree, with its dates in words.
enum ContentTree {
    /// - Returns: Nil for a text that is not JSON.
    static func html(ofJSON text: String) -> HTML? {
        (try? JSONParser.parse(Array(text.utf8))).map { html(of: $0, named: "") }
    }

    private static func html(of value: JSONValue, named name: String) -> HTML {
        switch value {
        case .object(let object):
            ul {
                for member in object.members {
                    li {
                        code { data(member.key) }
                        plain(": ")
                        html(of: member.value, named: member.key)
                    }
                }
            }
        case .array(let elements):
            ol { for element in elements { li { html(of: element, named: name) } } }
        case .string(let text): data(text)
        case .number(let number):
            HTML {
                plain(number.text)
                if name.hasSuffix("Date"), let milliseconds = Int64(number.text) {
                    plain(" · ")
                    Shown.moment(Timestamp(millisecondsSince1970: milliseconds))
                }
            }
        case .bool(let isTrue): plain(isTrue ? "true" : "false")
        case .null: plain("null")
        }
    }
}

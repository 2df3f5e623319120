import Features
import HTTPSupport
import Proofs

extension Item {
    var json: JSONValue {
        .object(["collection": .string(collection), "number": .integer(number)])
    }
}

/// An item of a user. Each launch of an app reads all of them, so the members are written one by one, in the order of their
/// names, without a list of fields (`AnswerFields`).
extension OwnedItem: AnswerValue {
    package static var schema: Schema { .ownedItem }

    package func write(to json: inout AnswerJSON) {
        json.append("{")
        writeMembers(to: &json)
        json.append("}")
    }

    fileprivate func writeMembers(to json: inout AnswerJSON) {
        func text(_ name: StaticString, _ text: String?) {
            guard let text else { return }
            json.append(name)
            json.string(text)
        }
        let purchase = purchase
        text("\"collection\":", item.collection)
        if case .grant(let identifier) = source { text(",\"grant\":", identifier) }
        json.append(",\"number\":")
        json.append(item.number)
        if let purchase {
            text(",\"origin\":", purchase.origin.rawValue)
            text(",\"originalTransactionId\":", purchase.originalTransactionIdentifier)
            text(",\"productId\":", purchase.productIdentifier)
        }
        if let renews { json.append(renews ? ",\"renews\":true" : ",\"renews\":false") }
        text(",\"since\":", since?.rfc3339)
        text(",\"source\":", sourceName)
        text(",\"state\":", state.rawValue)
        text(",\"transactionId\":", purchase?.transactionIdentifier)
        text(",\"until\":", until?.rfc3339)
    }

    private var sourceName: String {
        switch source {
        case .purchase: "purchase"
        case .grant: "grant"
        case .rule: "rule"
        }
    }
}

/// The item with the right's name.
extension UserRight: AnswerValue {
    package static var schema: Schema { .userRight }

    package func write(to json: inout AnswerJSON) {
        json.append("{\"name\":")
        json.string(name)
        json.append(",")
        item.writeMembers(to: &json)
        json.append("}")
    }
}

import AppStore

/// The forms for the actions on a transaction and on its subscription. Only the possible actions are shown.
struct StoreTransactionActionForms {
    let context: ConsoleContext
    let listed: ListedTransaction

    var html: HTML {
        let actions = listed.actions
        return HTML {
            h2 { Phrase("Actions", "작업") }
            div(.class("actions")) {
                for action in actions where action.fields == nil {
                    form(action) {
                        button { action.title }
                    }
                }
            }
            for action in actions where action.fields != nil {
                details(.class("action")) {
                    summary { action.title }
                    form(action) {
                        action.fields
                        button(action == .delete ? .class("danger") : .class("primary")) { action.title }
                    }
                }
            }
        }
    }

    private func form(_ action: TransactionAction, @HTMLBuilder content: () -> HTML) -> HTML {
        context.form(
            to: .storeTransaction(listed.transaction.transactionIdentifier, action.rawValue), content: content)
    }
}

//! Ctrl-C. The first one stops the work in progress, which then shows its results. The second one ends the
//! program.
//!
//! Programs that never call [`listen`] keep the system's behaviour.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, Once, OnceLock};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};

use super::sync::lock;

/// The shell's exit status for a program ended by SIGINT.
const EXIT_STATUS: i32 = 130;

/// The sender is dropped at the first Ctrl-C, which closes every receiver at once.
struct Signal {
    sender: Mutex<Option<Sender<()>>>,
    receiver: Receiver<()>,
}

/// Installs the handler, once in a process. The channel closes at the first Ctrl-C and never
/// holds a message.
pub(crate) fn listen() -> Receiver<()> {
    static SIGNAL: OnceLock<Signal> = OnceLock::new();
    static HANDLER: Once = Once::new();
    let signal = SIGNAL.get_or_init(|| {
        let (sender, receiver) = bounded(0);
        Signal { sender: Mutex::new(Some(sender)), receiver }
    });
    // After the signal is made: a Ctrl-C may come at once.
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C kills the program, as it would without this module.
        if let Err(error) = ctrlc::set_handler(|| SIGNAL.get().map_or((), Signal::raise)) {
            log::warn!("Ctrl-C will end the program at once: {error}");
        }
    });
    signal.receiver.clone()
}

/// Was Ctrl-C pressed since [`listen`] was called first?
pub(crate) fn is_requested() -> bool {
    listen().try_recv() == Err(TryRecvError::Disconnected)
}

impl Signal {
    fn raise(&self) {
        let first = lock(&self.sender).take();
        if first.is_none() {
            std::process::exit(EXIT_STATUS);
        }
        end_echoed_line();
    }
}

/// Ends the line in which the terminal echoed `^C`.
fn end_echoed_line() {
    let mut terminal = io::stderr();
    if terminal.is_terminal() {
        // A failure leaves the output less tidy and nothing else.
        let _ = writeln!(terminal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_closes_the_channel_for_all_listeners() {
        let (sender, receiver) = bounded(0);
        let signal = Signal { sender: Mutex::new(Some(sender)), receiver };
        let listener = signal.receiver.clone();
        assert_eq!(listener.try_recv(), Err(TryRecvError::Empty));
        signal.raise();
        assert_eq!(listener.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(signal.receiver.try_recv(), Err(TryRecvError::Disconnected));
    }
}

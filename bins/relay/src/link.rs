//! The thread for the network, and the two queues that join it to the main thread.

use std::{io, sync::mpsc, thread, time::Duration};

use shared::{
    exit::Error,
    wait::{Bell, Waiter},
};
use tokio::{runtime::Builder, sync::mpsc as orders};

/// How long the thread has to say goodbye to the server at the end.
const GOODBYE: Duration = Duration::from_millis(500);

/// The main thread's end.
#[derive(Debug)]
pub struct Link<O, A> {
    orders: orders::UnboundedSender<O>,
    answers: mpsc::Receiver<A>,
}

/// What the network's thread hears of; closed when the run ends.
pub type Orders<O> = orders::UnboundedReceiver<O>;

/// What the network's thread speaks with.
#[derive(Debug)]
pub struct Voice<A> {
    answers: mpsc::Sender<A>,
    bell: Bell,
}

impl<A> Voice<A> {
    /// Tells the main thread, and wakes it. Once it is gone there is nobody to tell.
    pub fn tell(&mut self, answer: A) {
        if self.answers.send(answer).is_ok() {
            self.bell.ring();
        }
    }
}

impl<O: Send + 'static, A: Send + 'static> Link<O, A> {
    /// Starts the thread. `connection` serves one connection from an order that `opens` one to
    /// its end; what else is ordered while there is none is void.
    ///
    /// # Errors
    ///
    /// Only for want of threads or descriptors.
    pub fn start(
        waiter: &Waiter,
        opens: fn(&O) -> bool,
        connection: impl AsyncFn(O, &mut Orders<O>, &mut Voice<A>) + Send + 'static,
    ) -> Result<Self, Error> {
        let (orders, mut heard) = orders::unbounded_channel();
        let (tell, answers) = mpsc::channel();
        let bell = waiter.bell().map_err(Error::on("make a bell"))?;
        let mut voice = Voice { answers: tell, bell };
        let serve = move || {
            while let Some(order) = heard.blocking_recv() {
                if opens(&order) {
                    // With its runtime a connection loses all it holds: nothing of it is sent
                    // by another one behind our back, out of order.
                    let Ok(runtime) = runtime() else { return };
                    runtime.block_on(connection(order, &mut heard, &mut voice));
                    runtime.shutdown_background();
                }
            }
        };
        thread::Builder::new()
            .name("network".to_owned())
            .spawn(serve)
            .map_err(Error::on("start a thread"))?;
        Ok(Self { orders, answers })
    }

    /// Gives an order.
    pub fn order(&self, order: O) {
        // A thread that ended has told why.
        let _ = self.orders.send(order);
    }

    /// What was told since.
    pub fn answers(&self) -> impl Iterator<Item = A> {
        self.answers.try_iter()
    }

    /// Ends the thread, once what was ordered has reached the server, or after a moment.
    pub fn close(self) {
        let Self { orders, answers } = self;
        drop(orders);
        while answers.recv_timeout(GOODBYE).is_ok() {}
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    Builder::new_current_thread().enable_all().build()
}
